// CIFAR-10 and CIFAR-100 in their binary version (Krizhevsky 2009, "Learning multiple layers of features from
// tiny images"; format: https://www.cs.toronto.edu/~kriz/cifar.html). A record is its labels, one byte each
// (100: coarse and fine, of which the fine one counts), and 32 x 32 pixels as planes of red, green and blue.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/formats/file.h"
#include "data/source.h"

namespace lockstep::data {

struct CifarOptions {
  int64_t classes = 10;  ///< 10 or 100: which of the two
  /// Holds data_batch_1.bin to data_batch_5.bin and test_batch.bin (100: train.bin and test.bin), and names
  /// of the classes in batches.meta.txt (fine_label_names.txt) if they are there.
  std::string directory = {};
  Split split = Split::kTrain;
};

/// Records are read when they are asked for.
class CifarSource final : public DataSource {
 public:
  /// Throws DataError naming a file that is missing or has not exactly its size.
  explicit CifarSource(const CifarOptions& options);

  int64_t size() const override;
  const SampleSpec& spec() const override { return spec_; }
  /// Throws DataError naming file, record and label when the label is no class.
  void read(const SampleRequest& request) const override;

 private:
  SampleSpec spec_;
  int64_t label_bytes_;
  int64_t records_per_file_;
  std::vector<std::unique_ptr<File>> files_;
};

}  // namespace lockstep::data
