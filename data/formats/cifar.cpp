#include "data/formats/cifar.h"

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>

#include "runtime/error.h"

namespace lockstep::data {
namespace {

constexpr int64_t kImageBytes = 3 * 32 * 32;
constexpr int64_t kMostLabelBytes = 2;

struct Layout {
  std::vector<std::string> files;
  int64_t records_per_file;
  int64_t label_bytes;
  const char* names;
};

Layout layout_of(const CifarOptions& options) {
  check(options.classes == 10 || options.classes == 100, "cifar", "classes: expected 10 or 100, got ",
        options.classes);
  const bool training = options.split == Split::kTrain;
  if (options.classes == 100) {
    if (training) return {{"train.bin"}, 50000, 2, "fine_label_names.txt"};
    return {{"test.bin"}, 10000, 2, "fine_label_names.txt"};
  }
  Layout layout{{"test_batch.bin"}, 10000, 1, "batches.meta.txt"};
  if (!training) return layout;
  layout.files.clear();
  for (int i = 1; i <= 5; ++i) layout.files.push_back(to_text("data_batch_", i, ".bin"));
  return layout;
}

/// One name a line; none when there is no such file.
std::vector<std::string> read_names(const std::string& path, int64_t classes) {
  std::ifstream file(path);
  if (!file.is_open()) return {};
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) names.push_back(line);
  }
  check<DataError>(static_cast<int64_t>(names.size()) == classes, "cifar", path, ": expected ", classes,
                   " names of classes, found ", names.size());
  return names;
}

}  // namespace

CifarSource::CifarSource(const CifarOptions& options) {
  const Layout layout = layout_of(options);
  label_bytes_ = layout.label_bytes;
  records_per_file_ = layout.records_per_file;
  const std::filesystem::path directory(options.directory);
  const int64_t expected = records_per_file_ * (label_bytes_ + kImageBytes);
  for (const std::string& name : layout.files) {
    files_.push_back(std::make_unique<File>(directory / name));
    const File& file = *files_.back();
    check<DataError>(file.size() == expected, "cifar", file.path(), ": expected ", expected, " bytes (",
                     records_per_file_, " records), found ", file.size());
  }
  spec_ = {.name = to_text("cifar", options.classes),
           .shape = {3, 32, 32},
           .classes = options.classes,
           .class_names = read_names(directory / layout.names, options.classes)};
}

int64_t CifarSource::size() const {
  return static_cast<int64_t>(files_.size()) * records_per_file_;
}

void CifarSource::read(const SampleRequest& request) const {
  const int64_t index = request.index;
  check(index >= 0 && index < size(), "cifar", "sample: expected 0 to ", size() - 1, ", got ", index);
  const File& file = *files_[static_cast<size_t>(index / records_per_file_)];
  const int64_t record = index % records_per_file_;
  std::array<std::byte, kMostLabelBytes + kImageBytes> bytes;
  file.read(record * (label_bytes_ + kImageBytes),
            std::span(bytes).first(static_cast<size_t>(label_bytes_ + kImageBytes)));
  const auto label = std::to_integer<int64_t>(bytes[static_cast<size_t>(label_bytes_ - 1)]);
  check<DataError>(label < spec_.classes, "cifar", file.path(), ": label of record ", record,
                   ": expected 0 to ", spec_.classes - 1, ", got ", label);
  std::memcpy(request.input, bytes.data() + label_bytes_, kImageBytes);
  request.set_label(label);
}

}  // namespace lockstep::data
