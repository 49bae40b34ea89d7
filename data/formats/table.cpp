#include "data/formats/table.h"

#include <array>
#include <filesystem>

#include "data/formats/idx.h"
#include "data/formats/synthetic.h"
#include "runtime/error.h"

namespace lockstep::data {

namespace {

constexpr int64_t kDigits = 10;  // the classes of MNIST and its relatives

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

std::unique_ptr<DataSource> open_synthetic(const SourceOptions& options) {
  return std::make_unique<SyntheticSource>(
      SyntheticOptions{.size = options.size,
                       .shape = options.shape,
                       .classes = options.classes > 0 ? options.classes : kDigits,
                       .seed = options.seed,
                       .split = options.split});
}

struct SourceRow {
  const char* name;
  const char* description;
  std::unique_ptr<DataSource> (*open)(const SourceOptions& options);
};

constexpr std::array kSources{
    SourceRow{"fashion_mnist", "60,000 + 10,000 grey 28 x 28 images of clothes, as Debian ships them",
              open_fashion_mnist},
    SourceRow{"idx", "a directory with IDX files, plain or .gz, as of MNIST", open_idx},
    SourceRow{"synthetic", "made-up images of any size that a model can learn", open_synthetic},
};

}  // namespace

std::unique_ptr<DataSource> open_source(const SourceOptions& options) {
  std::string known;
  for (const SourceRow& row : kSources) {
    if (options.name == row.name) return row.open(options);
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  throw InvalidArgument(
      to_text("[open_source] unknown data source \"", options.name, "\": expected one of ", known));
}

std::vector<SourceDescription> list_sources() {
  std::vector<SourceDescription> list;
  for (const SourceRow& row : kSources) list.push_back({row.name, row.description});
  return list;
}

}  // namespace lockstep::data
