// Where samples come from: an indexed collection of labelled images.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/dtype.h"
#include "runtime/shape.h"

namespace lockstep::data {

enum class Split : uint8_t { kTrain, kTest };

/// What every sample of a source looks like.
struct SampleSpec {
  std::string name;          ///< of the source, for messages
  Shape shape;               ///< [channels, height, width]
  DType dtype = DType::kU8;  ///< of a channel value: u8 (0..255) or f32
  int64_t classes = 0;       ///< labels are in [0, classes)

  int64_t nbytes() const { return shape.count() * static_cast<int64_t>(size_of(dtype)); }
};

/// All functions may be called from several threads at once.
class DataSource {
 public:
  virtual ~DataSource() = default;

  virtual int64_t size() const = 0;  ///< samples, at least 1
  virtual const SampleSpec& spec() const = 0;
  /// Writes sample `index` of [0, size()) to `image`, spec().nbytes() bytes in row-major order, and returns
  /// its label. May wait until the sample has been read. Throws DataError naming file and sample when it
  /// cannot be had.
  virtual int64_t read(int64_t index, std::byte* image) const = 0;
};

}  // namespace lockstep::data
