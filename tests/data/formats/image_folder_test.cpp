#include "data/formats/image_folder.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "data/loader.h"
#include "tests/data/error_of.h"
#include "tests/data/pictures.h"
#include "tests/data/read_label.h"

namespace lockstep::data {
namespace {

namespace fs = std::filesystem;

constexpr PictureShape kShape{3, 4};

/// Writes a file and the folders that it is in.
void put(const std::string& path, const Bytes& bytes) {
  fs::create_directories(fs::path(path).parent_path());
  write_file(path, bytes);
}

Bytes grey(uint8_t value) {
  return encode_png(solid(4, 4, {value}));
}

ImageFolderSource open(const TemporaryDirectory& directory, Split split = Split::kTrain,
                       int64_t classes = 0) {
  return ImageFolderSource(
      {.directory = directory.path(), .split = split, .classes = classes, .picture = kShape});
}

struct Sample {
  int64_t label;
  int value;  ///< of the first pixel
};

Sample sample_of(const DataSource& source, int64_t index) {
  std::vector<uint8_t> image(static_cast<size_t>(source.spec().nbytes()));
  const int64_t label = read_label(source, index, image.data());
  return {label, image[0]};
}

void put_classes(const TemporaryDirectory& directory, const std::string& split,
                 const std::vector<std::string>& classes) {
  int value = 0;
  for (const std::string& name : classes) {
    for (const char* file : {"/x.png", "/a.png"}) {
      put(directory / (split + "/" + name + file), grey(static_cast<uint8_t>(++value)));
    }
  }
}

TEST(ImageFolder, ClassesAndSamplesAreInByteOrder) {
  const TemporaryDirectory directory;
  put_classes(directory, "train", {"b", "a-b", "a", "Z"});
  const ImageFolderSource source = open(directory);
  EXPECT_EQ(source.spec().class_names, (std::vector<std::string>{"Z", "a", "a-b", "b"}));
  EXPECT_EQ(source.spec().classes, 4);
  EXPECT_EQ(source.spec().shape, (Shape{3, 4, 4}));
  EXPECT_TRUE(source.spec().framed);
  ASSERT_EQ(source.size(), 8);
  const std::vector<int> values{8, 7, 6, 5, 4, 3, 2, 1};  // a.png was written after x.png
  for (int64_t i = 0; i < 8; ++i) {
    EXPECT_EQ(sample_of(source, i).label, i / 2);
    EXPECT_EQ(sample_of(source, i).value, values[i]);
  }
}

TEST(ImageFolder, HiddenFoldersAndPlainFilesAreNoClasses) {
  const TemporaryDirectory directory;
  put_classes(directory, "train", {"a", "b", "c", "d", "e", ".ipynb_checkpoints"});
  put(directory / "train/.DS_Store", "x");
  put(directory / "train/0README.txt", "x");
  const ImageFolderSource source = open(directory);
  EXPECT_EQ(source.spec().class_names, (std::vector<std::string>{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(sample_of(source, 0).label, 0);
  EXPECT_EQ(sample_of(source, 9).label, 4);
}

TEST(ImageFolder, OnlyPicturesAreSamples) {
  const TemporaryDirectory directory;
  put(directory / "train/a/.hidden.png", grey(1));
  put(directory / "train/a/._1.jpg", grey(1));
  put(directory / "train/a/Thumbs.db", "x");
  put(directory / "train/a/notes", "x");
  put(directory / "train/a/inner/1.png", grey(1));
  fs::create_directories(directory / "train/a/folder.png");
  put(directory / "train/a/1.PNG", grey(11));
  put(directory / "train/a/2.JPEG", grey(12));
  put(directory / "train/a/3.jpg", grey(13));
  put(directory / "train/a/4.tar.png", grey(14));
  testing::internal::CaptureStderr();
  const ImageFolderSource source = open(directory);
  expect_contains(testing::internal::GetCapturedStderr(), "6 files in its class folders are hidden or not");
  ASSERT_EQ(source.size(), 4);
  for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(sample_of(source, i).value, 11 + i);
}

TEST(ImageFolder, LinksToFoldersAreFollowed) {
  const TemporaryDirectory directory;
  put_classes(directory, "train", {"a"});
  put_classes(directory, "elsewhere", {"there"});
  fs::create_directory_symlink(directory / "elsewhere/there", directory / "train/b");
  const ImageFolderSource source = open(directory);
  EXPECT_EQ(source.spec().class_names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(source.size(), 4);
}

TEST(ImageFolder, ALinkThatLeadsNowhereIsLeftOutAndALoopNamed) {
  const TemporaryDirectory directory;
  put_classes(directory, "train", {"a"});
  const int64_t size = open(directory).size();
  fs::create_symlink("missing.png", directory / "train/a/dangling.png");
  EXPECT_EQ(open(directory).size(), size);
  fs::create_symlink("loop.png", directory / "train/a/loop.png");
  expect_contains(error_of<DataError>([&] { open(directory); }), "/train/a/loop.png: cannot be read");
}

TEST(ImageFolder, EvaluationIsValOrTest) {
  const TemporaryDirectory directory;
  put_classes(directory, "train", {"a", "b"});
  const std::string text = error_of<DataError>([&] { open(directory, Split::kTest); });
  expect_contains(text, "pictures of evaluation");
  expect_contains(text, directory / "val" + ", " + directory / "test");
  put_classes(directory, "test", {"a", "b"});
  EXPECT_EQ(open(directory, Split::kTest).size(), 4);
  put_classes(directory, "val", {"a", "b"});
  put(directory / "val/b/y.png", grey(9));
  EXPECT_EQ(open(directory, Split::kTest).size(), 5);
}

TEST(ImageFolder, EvaluationHasTheClassesOfTraining) {
  const TemporaryDirectory directory;
  put_classes(directory, "train", {"a", "b", "c"});
  put_classes(directory, "val", {"a", "c", "d"});
  const std::string text = error_of<DataError>([&] { open(directory, Split::kTest); });
  expect_contains(text, directory / "val");
  expect_contains(text, "missing [b], unknown [d]");
  fs::remove_all(directory / "train");
  EXPECT_EQ(open(directory, Split::kTest).spec().classes, 3);
}

TEST(ImageFolder, SaysWhatIsMissing) {
  const TemporaryDirectory directory;
  expect_contains(error_of<DataError>([&] { open(directory); }), "looked for " + directory / "train");
  fs::create_directories(directory / "train");
  expect_contains(error_of<DataError>([&] { open(directory); }),
                  "expected a folder for each class, found none");
  put_classes(directory, "train", {"a", "b"});
  put(directory / "train/c/.keep", "");
  expect_contains(error_of<DataError>([&] { open(directory); }),
                  directory / "train/c" + ": expected pictures named .jpg, .jpeg or .png, found none");
  fs::remove_all(directory / "train/c");
  expect_contains(error_of<DataError>([&] { open(directory, Split::kTrain, 10); }),
                  "expected 10 classes (data.classes), found 2: [a, b]");
  EXPECT_EQ(open(directory, Split::kTrain, 2).spec().classes, 2);
}

TEST(ImageFolder, RefusesImpossibleImages) {
  const TemporaryDirectory directory;
  put_classes(directory, "train", {"a"});
  const auto refused = [&](const PictureShape& shape) {
    return error_of<InvalidArgument>(
        [&] { ImageFolderSource({.directory = directory.path(), .picture = shape}); });
  };
  expect_contains(refused({4, 8}), "channels: expected 1 or 3, got 4");
  expect_contains(refused({3, 0}), "expected 1 or more pixels, got 0");
  const ImageFolderSource source = open(directory);
  EXPECT_THROW(sample_of(source, -1), InvalidArgument);
  EXPECT_THROW(sample_of(source, 2), InvalidArgument);
}

/// Eight files of one class, four of them broken and one only odd.
void put_broken(const TemporaryDirectory& directory) {
  const Bytes jpeg = encode_jpeg(landscape(20, 20, 3));
  const size_t end = jpeg.size() - 2;
  put(directory / "train/a/0.jpg", jpeg);
  put(directory / "train/a/1.jpg", "");
  put(directory / "train/a/2.jpg", jpeg.substr(0, jpeg.size() / 2));
  put(directory / "train/a/3.jpg", jpeg.substr(0, end) + "x" + jpeg.substr(end));
  put(directory / "train/a/4.jpg", "some text");
  put(directory / "train/a/5.jpg", grey(5));
  put(directory / "train/a/6.jpg", gzip(jpeg));
  put(directory / "train/a/7.jpg", jpeg);
}

TEST(ImageFolder, ABrokenFileIsABadSampleThatIsNamed) {
  const TemporaryDirectory directory;
  put_broken(directory);
  const ImageFolderSource source = open(directory);
  for (const int64_t good : {0, 3, 5, 7}) EXPECT_EQ(sample_of(source, good).label, 0);
  for (const int64_t bad : {1, 2, 4, 6}) {
    expect_contains(error_of<BadSample>([&] { sample_of(source, bad); }),
                    directory / ("train/a/" + std::to_string(bad) + ".jpg"));
  }
  fs::remove(directory / "train/a/7.jpg");
  expect_contains(error_of<BadSample>([&] { sample_of(source, 7); }), "7.jpg: cannot be opened");
}

TEST(ImageFolder, BrokenFilesLeaveTheNumberOfSamplesAsItIs) {
  const TemporaryDirectory directory;
  put_broken(directory);
  const ImageFolderSource source = open(directory);
  const Sampler sampler({.size = source.size(), .shuffle = false});
  Loader loader(source, sampler, {}, {.threads = 2, .bad_samples = BadSamples::kReplace});
  loader.submit({{0, 0, 4}, {0, 4, 4}});
  testing::internal::CaptureStderr();
  const Batch first = loader.next();
  const Batch second = loader.next();
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(first.inputs.shape()[0], 4);
  EXPECT_EQ(second.inputs.shape()[0], 4);
  EXPECT_EQ(first.bad_samples + second.bad_samples, 4);
  for (const char* bad : {"/1.jpg", "/2.jpg", "/4.jpg", "/6.jpg"}) expect_contains(log, bad);
}

}  // namespace
}  // namespace lockstep::data
