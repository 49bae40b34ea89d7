#include "data/formats/table.h"

#include <filesystem>

#include "data/formats/idx.h"
#include "data/formats/image_folder.h"
#include "data/formats/synthetic.h"
#include "runtime/error.h"
#include "runtime/named_rows.h"

namespace lockstep::data {

namespace {

constexpr int64_t kDigits = 10;  // the classes of MNIST and its relatives

PictureShape picture_shape(const SourceOptions& options) {
  return {options.image_channels, options.image_size};
}

std::unique_ptr<DataSource> open_idx(const SourceOptions& options) {
  check<ConfigError>(!options.path.empty(), "idx",
                     "data.path: expected the directory that holds the IDX files, got nothing");
  const int64_t classes = options.classes > 0 ? options.classes : kDigits;
  return std::make_unique<IdxSource>(IdxOptions{options.name, options.path, options.split, classes});
}

std::unique_ptr<DataSource> open_fashion_mnist(const SourceOptions& options) {
  constexpr const char* kPackageDirectory = "/usr/share/datasets/fashion-mnist";
  SourceOptions located = options;
  if (located.path.empty()) located.path = kPackageDirectory;
  check<DataError>(std::filesystem::is_directory(located.path), "fashion_mnist", "no directory \"",
                   located.path, "\"; apt install dataset-fashion-mnist puts the data into ",
                   kPackageDirectory, ", which is used when data.path is empty");
  return open_idx(located);
}

std::unique_ptr<DataSource> open_image_folder(const SourceOptions& options) {
  check<ConfigError>(!options.path.empty(), "image_folder",
                     "data.path: expected the directory that holds the folders train and val, got nothing");
  return std::make_unique<ImageFolderSource>(
      ImageFolderOptions{options.name, options.path, options.split, options.classes, picture_shape(options)});
}

std::unique_ptr<DataSource> open_synthetic(const SourceOptions& options) {
  return std::make_unique<SyntheticSource>(
      SyntheticOptions{.size = options.size,
                       .shape = options.shape,
                       .classes = options.classes > 0 ? options.classes : kDigits,
                       .seed = options.seed,
                       .split = options.split});
}

constexpr SourceRow kSources[] = {
    {"fashion_mnist", open_fashion_mnist},
    {"idx", open_idx},
    {"image_folder", open_image_folder},
    {"synthetic", open_synthetic},
};

}  // namespace

std::vector<std::string> source_names(const std::vector<SourceRow>& own) {
  return names_of(with_own(kSources, own));
}

std::unique_ptr<DataSource> open_source(const SourceOptions& options, const std::vector<SourceRow>& own) {
  return find_row("data", with_own(kSources, own), options.name).open(options);
}

}  // namespace lockstep::data
