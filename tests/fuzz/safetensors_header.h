// Safetensors files: a length, a header of so many bytes, the tensors.
#pragma once

#include "tests/fuzz/target.h"

namespace lockstep::fuzz {

inline Bytes safetensors_file(const Bytes& header, const Bytes& tensors) {
  return little_endian(header.size(), 8) + header + tensors;
}

/// The length of the header that is there: up to the brace that closes its first one.
inline Bytes with_header_length(const Bytes& file) {
  constexpr size_t kBegin = 8;
  int depth = 0;
  for (size_t i = kBegin; i < file.size(); ++i) {
    depth += file[i] == '{' ? 1 : file[i] == '}' ? -1 : 0;
    if (depth == 0) return Bytes(file).replace(0, kBegin, little_endian(i + 1 - kBegin, kBegin));
  }
  return file;
}

}  // namespace lockstep::fuzz
