// The IDX format of the MNIST family: a file of u8 images and a file of u8 labels, plain or .gz.
// Format: four bytes 00 00 <type> <dimensions>, each extent as big-endian u32, then the values in row-major
// order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/formats/background_reader.h"
#include "data/source.h"

namespace lockstep::data {

struct IdxOptions {
  std::string name = "idx";  ///< of the source, for messages
  /// Holds train-images-idx3-ubyte and train-labels-idx1-ubyte (test: t10k-...), or the same with '.' before
  /// idx, or with .gz at the end.
  std::string directory = {};
  Split split = Split::kTrain;
  int64_t classes = 10;
};

/// Opening checks both headers against the files' sizes and reads all labels. The images arrive in the
/// background, and read() waits for those it needs: unpacking Fashion-MNIST takes as long as the rest of a
/// program's start. What is wrong inside the image file is therefore thrown by read(), by every read() from
/// then on.
class IdxSource final : public DataSource {
 public:
  /// Throws DataError naming the file, offset or sample, and the sizes or values expected and found.
  explicit IdxSource(const IdxOptions& options);

  int64_t size() const override { return static_cast<int64_t>(labels_.size()); }
  const SampleSpec& spec() const override { return spec_; }
  void read(const SampleRequest& request) const override;

 private:
  SampleSpec spec_;
  std::vector<uint8_t> labels_;
  std::unique_ptr<BackgroundReader> images_;
};

}  // namespace lockstep::data
