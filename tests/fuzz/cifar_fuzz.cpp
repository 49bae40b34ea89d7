// CIFAR-10 and CIFAR-100: a few records, in a file of the right size that is empty otherwise, and the file of
// the classes' names.
#include "data/formats/cifar.h"

#include <unistd.h>

#include "tests/data/read_label.h"
#include "tests/fuzz/target.h"

namespace lockstep::fuzz {
namespace {

constexpr int64_t kRecords = 10000;
constexpr int64_t kImageBytes = 3 * 32 * 32;
/// What tells the two apart: which of them a mutated input is.
constexpr char kHundred = 'C';

/// Which of the two, records, names.
using Files = std::vector<Bytes>;

Bytes names(int count) {
  Bytes text;
  for (int i = 0; i < count; ++i) text += "class " + std::to_string(i) + '\n';
  return text;
}

Bytes records(size_t label_bytes) {
  Bytes bytes;
  for (int record = 0; record < 2; ++record)
    bytes +=
        Bytes(label_bytes, static_cast<char>(record)) + Bytes(kImageBytes, static_cast<char>(7 * record));
  return bytes;
}

void parse(const Bytes& input) {
  const Files files = split_files(input, 3);
  const bool hundred = files[0].starts_with(kHundred);
  const Bytes& content = files[1];
  const std::string path = write_scratch(hundred ? "test.bin" : "test_batch.bin", content);
  const int64_t size = kRecords * (kImageBytes + (hundred ? 2 : 1));
  // An odd number of names goes with a file that is as short as the input.
  const bool has_size = files[0].size() % 2 == 1;
  if (has_size && truncate(path.c_str(), size) != 0) throw std::runtime_error("cannot truncate " + path);
  write_scratch(hundred ? "fine_label_names.txt" : "batches.meta.txt", files[2]);
  const data::CifarSource source(
      {.classes = hundred ? 100 : 10, .directory = scratch_folder(), .split = data::Split::kTest});
  std::vector<std::byte> image(static_cast<size_t>(source.spec().nbytes()));
  for (const int64_t record : {0, 1, 2}) data::read_label(source, record, image.data());
}

std::vector<Bytes> seeds() {
  return {join_files({"X", records(1), names(10)}), join_files({"C", records(2), names(100)})};
}

}  // namespace

const Target kTarget{.parse = parse, .seeds = seeds};

}  // namespace lockstep::fuzz
