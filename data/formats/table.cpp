#include "data/formats/table.h"

#include <filesystem>

#include "data/formats/cifar.h"
#include "data/formats/idx.h"
#include "data/formats/image_folder.h"
#include "data/formats/synthetic.h"
#include "data/formats/tar_shards.h"
#include "data/formats/tokens.h"
#include "runtime/error.h"
#include "runtime/named_rows.h"

namespace lockstep::data {

namespace {

constexpr int64_t kDigits = 10;  // the classes of MNIST and its relatives

PictureShape picture_shape(const SourceOptions& options) {
  return {options.image_channels, options.image_size};
}

/// A source without a usual place has to be told where it is.
void require_path(const SourceOptions& options, const char* holds) {
  check<ConfigError>(!options.path.empty(), options.name.c_str(),
                     "data.path: expected the directory that holds ", holds, ", got nothing");
}

template <int64_t kClasses>
std::unique_ptr<DataSource> open_cifar(const SourceOptions& options) {
  require_path(options, "the binary version's .bin files");
  check<ConfigError>(options.classes == 0 || options.classes == kClasses, options.name.c_str(),
                     "data.classes: expected ", kClasses, ", got ", options.classes);
  return std::make_unique<CifarSource>(CifarOptions{kClasses, options.path, options.split});
}

std::unique_ptr<DataSource> open_idx(const SourceOptions& options) {
  require_path(options, "the IDX files");
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
  require_path(options, "the folders train and val");
  return std::make_unique<ImageFolderSource>(
      ImageFolderOptions{options.name, options.path, options.split, options.classes, picture_shape(options)});
}

std::unique_ptr<DataSource> open_tar_shards(const SourceOptions& options) {
  require_path(options, "the tar files");
  check<ConfigError>(options.classes > 0, "tar_shards",
                     "data.classes: expected the number of classes, which tar files do not say, got ",
                     options.classes);
  return std::make_unique<TarShardsSource>(
      TarShardsOptions{options.name, options.path, options.split, options.classes, picture_shape(options)});
}

std::unique_ptr<DataSource> open_tokens(const SourceOptions& options) {
  require_path(options, "the token files");
  return std::make_unique<TokensSource>(
      TokensOptions{options.name, options.path, options.split, options.sequence_length, options.classes});
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
    {"cifar10", open_cifar<10>},           {"cifar100", open_cifar<100>},
    {"fashion_mnist", open_fashion_mnist}, {"idx", open_idx},
    {"image_folder", open_image_folder},   {"synthetic", open_synthetic},
    {"tar_shards", open_tar_shards},       {"tokens", open_tokens},
};

}  // namespace

std::vector<std::string> source_names(const std::vector<SourceRow>& own) {
  return names_of(with_own(kSources, own));
}

std::unique_ptr<DataSource> open_source(const SourceOptions& options, const std::vector<SourceRow>& own) {
  return find_row("data", with_own(kSources, own), options.name).open(options);
}

}  // namespace lockstep::data
