#include "data/formats/idx.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <iomanip>
#include <limits>
#include <sstream>
#include <system_error>
#include <utility>

#include "runtime/error.h"

namespace lockstep::data {

namespace {

constexpr uint32_t kImagesMagic = 0x00000803;  // u8 values, three dimensions
constexpr uint32_t kLabelsMagic = 0x00000801;  // u8 values, one dimension

/// A file whose header has been read and agrees with the file's size.
struct IdxFile {
  ByteStream stream;
  std::vector<int64_t> extents;
  int64_t count = 0;  ///< values that follow the header
};

std::string find_file(const IdxOptions& options, const std::string& kind, const std::string& format) {
  const std::string stem = (options.split == Split::kTrain ? "train-" : "t10k-") + kind;
  const std::filesystem::path directory(options.directory);
  std::string tried;
  for (const char* separator : {"-", "."}) {
    for (const char* ending : {"", ".gz"}) {
      const std::string name = stem + separator + format + ending;
      std::error_code unreadable;
      if (std::filesystem::exists(directory / name, unreadable)) return directory / name;
      tried += (tried.empty() ? "" : ", ") + name;
    }
  }
  throw DataError(to_text("[idx] no file with the ", kind, " of ", options.name, " in directory \"",
                          options.directory, "\": looked for ", tried));
}

uint32_t read_big_endian(ByteStream& stream) {
  std::array<std::byte, 4> bytes{};
  stream.read(bytes);
  uint32_t value = 0;
  for (const std::byte byte : bytes) value = value << 8 | std::to_integer<uint32_t>(byte);
  return value;
}

std::string hexadecimal(uint32_t value) {
  std::ostringstream text;
  text << "0x" << std::hex << std::setw(8) << std::setfill('0') << value;
  return text.str();
}

IdxFile open_file(const std::string& path, uint32_t expected_magic) {
  IdxFile file{ByteStream(path), {}, 1};
  const uint32_t magic = read_big_endian(file.stream);
  check<DataError>(magic == expected_magic, "idx", path, ": magic number at byte 0: expected ",
                   hexadecimal(expected_magic), ", got ", hexadecimal(magic));
  std::string declared = "header: ";
  for (uint32_t dim = 0; dim < (magic & 0xff); ++dim) {
    const int64_t extent = read_big_endian(file.stream);
    check<DataError>(extent > 0, "idx", path, ": extent ", dim, " at byte ", file.stream.position() - 4,
                     ": expected 1 or more, got 0");
    check<DataError>(file.count <= std::numeric_limits<int64_t>::max() / 2 / extent, "idx", path, ": ",
                     declared, extent, ": more values than any file holds");
    file.extents.push_back(extent);
    file.count *= extent;
    declared += to_text(dim == 0 ? "" : " x ", extent);
  }
  file.stream.expect_size(file.stream.position() + static_cast<uint64_t>(file.count), declared);
  return file;
}

std::vector<uint8_t> read_labels(IdxFile file, int64_t classes) {
  std::vector<uint8_t> labels(static_cast<size_t>(file.count));
  const uint64_t start = file.stream.position();
  file.stream.read(std::as_writable_bytes(std::span(labels)));
  file.stream.finish();
  const auto wrong =
      std::find_if(labels.begin(), labels.end(), [&](uint8_t label) { return label >= classes; });
  const auto sample = static_cast<uint64_t>(wrong - labels.begin());
  check<DataError>(wrong == labels.end(), "idx", file.stream.path(), ": label of sample ", sample, " (byte ",
                   start + sample, "): expected 0 to ", classes - 1, ", got ",
                   wrong == labels.end() ? 0 : int{*wrong});
  return labels;
}

}  // namespace

IdxSource::IdxSource(const IdxOptions& options) {
  check(options.classes >= 1, "idx", "number of classes: expected 1 or more, got ", options.classes);
  IdxFile images = open_file(find_file(options, "images", "idx3-ubyte"), kImagesMagic);
  IdxFile labels = open_file(find_file(options, "labels", "idx1-ubyte"), kLabelsMagic);
  check<DataError>(images.extents[0] == labels.count, "idx", images.stream.path(), " holds ",
                   images.extents[0], " images, but ", labels.stream.path(), " holds ", labels.count,
                   " labels");
  labels_ = read_labels(std::move(labels), options.classes);
  spec_ = {options.name, {1, images.extents[1], images.extents[2]}, DType::kU8, options.classes};
  images_ = std::make_unique<BackgroundReader>(std::move(images.stream), static_cast<size_t>(images.count));
}

void IdxSource::read(const SampleRequest& request) const {
  const int64_t index = request.index;
  check(index >= 0 && index < size(), "idx", "sample: expected 0 to ", size() - 1, ", got ", index);
  const auto nbytes = static_cast<size_t>(spec_.nbytes());
  const size_t begin = static_cast<size_t>(index) * nbytes;
  std::memcpy(request.input, images_->wait_for(begin + nbytes) + begin, nbytes);
  request.set_label(labels_[static_cast<size_t>(index)]);
}

}  // namespace lockstep::data
