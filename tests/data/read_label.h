// Reads one sample whose target is a label.
#pragma once

#include "data/source.h"

namespace lockstep::data {

/// Writes the input to `input` and returns the label.
inline int64_t read_label(const DataSource& source, int64_t index, void* input) {
  int64_t label = -1;
  SampleRequest request;
  request.index = index;
  request.input = static_cast<std::byte*>(input);
  request.target = reinterpret_cast<std::byte*>(&label);
  source.read(request);
  return label;
}

}  // namespace lockstep::data
