// IDX: a file of images and one of labels, both plain or both .gz.
#include "data/formats/idx.h"

#include <unistd.h>

#include <algorithm>

#include "tests/data/idx_files.h"
#include "tests/fuzz/checksums.h"
#include "tests/fuzz/target.h"

namespace lockstep::fuzz {
namespace {

constexpr size_t kMostValues = 4096;

/// Images, labels.
using Files = std::vector<Bytes>;

bool is_gzip(const Bytes& file) {
  return file.starts_with("\x1f\x8b");
}

void parse(const Bytes& input) {
  const Files files = split_files(input, 2);
  const bool packed = is_gzip(files[0]);
  const std::string ending = packed ? ".gz" : "";
  const std::string images = write_scratch("train-images-idx3-ubyte" + ending, files[0]);
  const std::string labels = write_scratch("train-labels-idx1-ubyte" + ending, files[1]);
  // The plain names are looked for first.
  if (packed) {
    for (const char* name : {"/train-images-idx3-ubyte", "/train-labels-idx1-ubyte"})
      unlink((scratch_folder() + name).c_str());
  }
  const data::IdxSource source({.directory = scratch_folder()});
  std::vector<std::byte> image(static_cast<size_t>(source.spec().nbytes()));
  int64_t label = 0;
  data::SampleRequest request;
  request.input = image.data();
  request.target = reinterpret_cast<std::byte*>(&label);
  for (const int64_t index : {int64_t{0}, source.size() - 1}) {
    request.index = index;
    source.read(request);
  }
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> inputs;
  for (const uint32_t count : {1, 10, 100}) {
    const Bytes images = data::image_file(count);
    const Bytes labels = data::label_file(count);
    inputs.push_back(join_files({images, labels}));
    for (const int level : {0, 1, 9})
      inputs.push_back(join_files({data::gzip(images, level), data::gzip(labels, level)}));
  }
  return inputs;
}

/// As many values as the header says.
Bytes with_values(Bytes file, size_t dimensions) {
  const size_t header = 4 + 4 * dimensions;
  if (file.size() < header) return file;
  size_t count = 1;
  for (size_t i = 4; i < header; i += 4) {
    size_t extent = 0;
    for (size_t k = 0; k < 4; ++k) extent = extent << 8 | static_cast<unsigned char>(file[i + k]);
    count = std::min(count, kMostValues) * std::min(extent, kMostValues);
  }
  if (count <= kMostValues) file.resize(header + count, '\1');
  return file;
}

Bytes repair(const Bytes& input) {
  const Files files = split_files(input, 2);
  if (is_gzip(files[0])) return join_files({with_gzip_trailer(files[0]), with_gzip_trailer(files[1])});
  return join_files({with_values(files[0], 3), with_values(files[1], 1)});
}

}  // namespace

const Target kTarget{.parse = parse, .seeds = seeds, .repair = repair};

}  // namespace lockstep::fuzz
