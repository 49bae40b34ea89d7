#include "data/formats/idx.h"

#include <gtest/gtest.h>

#include <array>

#include "runtime/error.h"
#include "tests/data/error_of.h"
#include "tests/data/idx_files.h"
#include "tests/data/read_label.h"

namespace lockstep::data {
namespace {

constexpr const char* kImages = "train-images-idx3-ubyte";
constexpr const char* kLabels = "train-labels-idx1-ubyte";

void expect_twenty_samples(const IdxSource& source) {
  ASSERT_EQ(source.size(), 20);
  EXPECT_EQ(source.spec().shape, (Shape{1, 3, 4}));
  EXPECT_EQ(source.spec().dtype, DType::kU8);
  EXPECT_EQ(source.spec().classes, 10);
  for (const int64_t index : {19, 0, 7}) {
    std::array<std::byte, 12> image{};
    EXPECT_EQ(read_label(source, index, image.data()), index % 10);
    for (int i = 0; i < 12; ++i) EXPECT_EQ(std::to_integer<int>(image[i]), 10 * index + i);
  }
}

TEST(Idx, LoadsEveryNamePlainAndPacked) {
  for (const std::string separator : {"-", "."}) {
    for (const std::string ending : {"", ".gz"}) {
      for (const Split split : {Split::kTrain, Split::kTest}) {
        const TemporaryDirectory directory;
        const std::string start = split == Split::kTrain ? "train" : "t10k";
        const auto packed = [&](const Bytes& bytes) { return ending.empty() ? bytes : gzip(bytes, 6); };
        write_file(directory / (start + "-images" + separator + "idx3-ubyte" + ending),
                   packed(image_file(20)));
        write_file(directory / (start + "-labels" + separator + "idx1-ubyte" + ending),
                   packed(label_file(20)));
        expect_twenty_samples(IdxSource({.directory = directory.path(), .split = split}));
      }
    }
  }
}

TEST(Idx, RefusesAnIndexOutOfRange) {
  const TemporaryDirectory directory;
  write_file(directory / kImages, image_file(20));
  write_file(directory / kLabels, label_file(20));
  const IdxSource source({.directory = directory.path()});
  std::array<std::byte, 12> image{};
  for (const int64_t index : {-1, 20}) {
    expect_contains(error_of<InvalidArgument>([&] { read_label(source, index, image.data()); }),
                    "expected 0 to 19, got ");
  }
}

/// A directory in which one thing is wrong.
struct Fault {
  const char* name;
  const char* image_name;
  Bytes images;
  const char* label_name;
  Bytes labels;
  std::vector<std::string> message;  ///< parts of it
  bool found_by_read = false;        ///< otherwise opening finds it
};

Bytes replaced(Bytes bytes, size_t position, Bytes part) {
  return bytes.replace(position, part.size(), part);
}

Bytes half(const Bytes& bytes) {
  return bytes.substr(0, bytes.size() / 2);
}

const Bytes kMany("\0\0\xea\x60", 4);  // 60000
const Bytes kGreatest("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12);
const Bytes kPage = "<!DOCTYPE html><title>404</title>";

const std::string kImagesGz = std::string(kImages) + ".gz";
const std::string kLabelsGz = std::string(kLabels) + ".gz";

std::vector<Fault> image_faults() {
  const Bytes good = image_file(20);  // 256 bytes
  const Bytes packed = gzip(good);
  const char* const gz = kImagesGz.c_str();
  std::vector<Fault> faults;
  const auto add = [&](const char* name, const char* file, const Bytes& bytes,
                       std::vector<std::string> message) {
    message.push_back(file);
    faults.push_back({name, file, bytes, kLabels, label_file(20), message});
  };
  add("PlainHalf", kImages, half(good), {"expected 256 bytes (header: 20 x 3 x 4)", "found 128"});
  add("PlainOneByteShort", kImages, good.substr(0, 255), {"expected 256 bytes", "found 255"});
  add("PlainHeaderOnlyBegun", kImages, good.substr(0, 9), {"ends early", "after byte 9", "file size 9"});
  add("PlainTrailing", kImages, good + "x", {"expected 256 bytes", "found 257"});
  add("PlainEmpty", kImages, "", {"is empty"});
  add("PlainCountLies", kImages, replaced(good, 4, kMany), {"expected 720016 bytes", "found 256"});
  add("PlainExtentsOverflow", kImages, replaced(good, 4, kGreatest), {"more values than any file holds"});
  add("PlainNoSamples", kImages, image_file(0), {"extent 0 at byte 4", "got 0"});
  add("PlainNoHeight", kImages, replaced(good, 8, Bytes(4, '\0')), {"extent 1 at byte 8", "got 0"});
  add("PlainLabelsInstead", kImages, label_file(20), {"expected 0x00000803, got 0x00000801"});
  add("PlainPage", kImages, kPage, {"expected 0x00000803, got 0x3c21444f"});
  add("PackedUnderPlainName", kImages, packed, {"a gzip file; its name should end in .gz"});
  add("GzHalf", gz, half(packed), {"expected 256 bytes", "in the gzip trailer", "file size 139"});
  add("GzOneByteShort", gz, packed.substr(0, packed.size() - 1),
      {"expected 256 bytes", "in the gzip trailer"});
  add("GzTrailing", gz, packed + "junk", {"expected 256 bytes", "in the gzip trailer", "extra bytes"});
  add("GzPage", gz, kPage, {"not a gzip file", "<!DOCTYPE", "file size 33"});
  add("GzPlainInside", gz, good, {"not a gzip file", "file size 256"});
  add("GzCountLies", gz, gzip(replaced(good, 4, kMany)), {"expected 720016 bytes", "found 256"});
  add("GzEmpty", gz, "", {"is empty"});
  add("GzOfNothing", gz, gzip(""), {"ends early", "after byte 0"});
  return faults;
}

std::vector<Fault> label_faults() {
  const Bytes good = label_file(20);  // 28 bytes
  const char* const gz = kLabelsGz.c_str();
  std::vector<Fault> faults;
  const auto add = [&](const char* name, const char* file, const Bytes& bytes,
                       std::vector<std::string> message) {
    message.push_back(file);
    faults.push_back({name, kImages, image_file(20), file, bytes, message});
  };
  add("LabelTen", kLabels, replaced(good, 8 + 13, "\x0a"),
      {"label of sample 13 (byte 21): expected 0 to 9, got 10"});
  add("LabelMinusOne", kLabels, replaced(good, 8, "\xff"),
      {"label of sample 0 (byte 8): expected 0 to 9, got 255"});
  add("LabelsOfAnotherSet", kLabels, label_file(10), {"holds 20 images", "holds 10 labels"});
  add("LabelsShort", kLabels, good.substr(0, 27), {"expected 28 bytes", "found 27"});
  add("LabelsImagesInstead", kLabels, image_file(20), {"expected 0x00000801, got 0x00000803"});
  Bytes damaged = gzip(good);
  damaged[damaged.size() - 8] ^= 1;
  add("LabelsChecksum", gz, damaged, {"incorrect data check"});
  return faults;
}

/// Faults beyond what is unpacked to give the header away.
std::vector<Fault> distant_faults() {
  constexpr uint32_t kCount = 100000;
  const Bytes packed = gzip(image_file(kCount));
  const Bytes labels = label_file(kCount);
  Bytes wrong_sum = packed;
  wrong_sum[packed.size() - 8] ^= 1;
  Bytes wrong_pixel = packed;
  wrong_pixel[packed.size() / 2] ^= 1;
  const Bytes one_more = replaced(image_file(kCount), 4, Bytes("\x00\x01\x86\xa1", 4));  // 1,200,028 bytes
  const Bytes many_more =
      replaced(image_file(kCount), 4, Bytes("\x0c\x00\x00\x00", 4));  // 2,415,919,120 bytes
  const auto trailer = [&](const Bytes& bytes, const Bytes& length) {
    return replaced(gzip(bytes), packed.size() - 4, length);
  };
  const char* const gz = kImagesGz.c_str();
  return {
      {"WrongSum", gz, wrong_sum, kLabels, labels, {gz, "incorrect data check", "file size 1200"}, true},
      {"WrongPixel", gz, wrong_pixel, kLabels, labels, {gz, "incorrect data check", "file size 1200"}, true},
      {"WrongLength",
       gz,
       trailer(one_more, Bytes("\x9c\x4f\x12\x00", 4)),
       kLabels,
       label_file(kCount + 1),
       {gz, "incorrect length check", "file size 1200"},
       true},
      {"MoreThanItCanHold",
       gz,
       trailer(many_more, Bytes("\x10\x00\x00\x90", 4)),
       kLabels,
       labels,
       {gz, "expected 2415919120 bytes", "more than a gzip file of 1200"}},
  };
}

std::ostream& operator<<(std::ostream& out, const Fault& fault) {
  return out << fault.name;
}

class IdxFault : public testing::TestWithParam<Fault> {};

TEST_P(IdxFault, IsNamed) {
  const Fault& fault = GetParam();
  const TemporaryDirectory directory;
  write_file(directory / fault.image_name, fault.images);
  write_file(directory / fault.label_name, fault.labels);
  std::unique_ptr<IdxSource> source;
  const auto open = [&] { source = std::make_unique<IdxSource>(IdxOptions{.directory = directory.path()}); };
  if (fault.found_by_read) open();
  const std::string text = error_of<DataError>([&] {
    open();
    std::array<std::byte, 12> image{};
    read_label(*source, source->size() - 1, image.data());
  });
  for (const std::string& part : fault.message) expect_contains(text, part);
}

std::string fault_name(const testing::TestParamInfo<Fault>& info) {
  return info.param.name;
}
INSTANTIATE_TEST_SUITE_P(Images, IdxFault, testing::ValuesIn(image_faults()), fault_name);
INSTANTIATE_TEST_SUITE_P(Labels, IdxFault, testing::ValuesIn(label_faults()), fault_name);
INSTANTIATE_TEST_SUITE_P(Distant, IdxFault, testing::ValuesIn(distant_faults()), fault_name);

TEST(Idx, NamesTheFilesThatItLooksFor) {
  const TemporaryDirectory directory;
  write_file(directory / kImages, image_file(20));
  const std::string text = error_of<DataError>([&] { IdxSource({.directory = directory.path()}); });
  expect_contains(text, "labels");
  expect_contains(text, directory.path());
  expect_contains(text, "train-labels-idx1-ubyte, train-labels-idx1-ubyte.gz, train-labels.idx1-ubyte");
  expect_contains(error_of<DataError>([&] { IdxSource({.directory = directory / "none"}); }), "images");
}

}  // namespace
}  // namespace lockstep::data
