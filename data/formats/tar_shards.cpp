#include "data/formats/tar_shards.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "data/formats/file.h"
#include "data/formats/tar_index.h"
#include "runtime/error.h"
#include "runtime/log.h"

namespace lockstep::data {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kLongestLabel = 32;

bool is_compressed_tar(const std::string& name) {
  constexpr std::array kEndings{".tgz", ".tbz2", ".txz"};
  return name.find(".tar.") != std::string::npos ||
         std::any_of(kEndings.begin(), kEndings.end(),
                     [&](const char* ending) { return name.ends_with(ending); });
}

/// Paths in `folder` of the shards whose names contain `part`, in byte order.
std::vector<std::string> list_shards(const fs::path& folder, const std::string& part) {
  std::vector<std::string> paths;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (name.starts_with('.') || name.find(part) == std::string::npos) continue;
    check<DataError>(
        !is_compressed_tar(name), "tar_shards", entry->path().string(),
        ": compressed shards cannot be read at any place; unpack it to a plain .tar (pictures are "
        "compressed as they are)");
    if (name.ends_with(".tar")) paths.push_back(entry->path());
  }
  check<DataError>(!error, "tar_shards", folder.string(), ": cannot be listed: ", error.message());
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<std::string> find_shards(const std::string& directory, Split split) {
  const fs::path root(directory);
  std::string tried;
  for (const char* part : split == Split::kTrain ? std::vector{"train"} : std::vector{"val", "test"}) {
    std::error_code unreadable;
    const bool has_folder = fs::is_directory(root / part, unreadable);
    const std::vector<std::string> paths =
        has_folder ? list_shards(root / part, "") : list_shards(root, part);
    if (!paths.empty()) return paths;
    tried +=
        to_text(tried.empty() ? "" : ", ", directory, "/", part, "/*.tar, ", directory, "/*", part, "*.tar");
  }
  throw DataError(to_text("[tar_shards] no shards: looked for ", tried));
}

struct MemberName {
  std::string_view key;
  std::string suffix;
};

/// None for what is no part of a sample.
std::optional<MemberName> split_name(std::string_view name) {
  if (name.starts_with("__") && name.ends_with("__")) return std::nullopt;
  const size_t base = name.rfind('/') + 1;  // npos + 1 is 0
  const size_t dot = name.find('.', base);
  if (dot == std::string_view::npos || dot == base) return std::nullopt;
  MemberName split{name.substr(0, dot), std::string(name.substr(dot + 1))};
  for (char& letter : split.suffix)
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return split;
}

bool is_picture(const std::string& suffix) {
  return suffix == "jpg" || suffix == "jpeg" || suffix == "png";
}

bool is_space(char character) {
  return std::isspace(static_cast<unsigned char>(character)) != 0;
}

/// Puts the members of a shard together.
class Gatherer {
 public:
  struct Sample {
    std::string key;
    std::optional<TarMember> picture;
    std::optional<int64_t> label;
    std::set<std::string> suffixes;
  };

  Gatherer(const std::string& path, int64_t classes) : file_(path), classes_(classes) {}

  bool belongs_to_current(std::string_view key) const { return sample_.key == key; }

  void add(const MemberName& name, const TarMember& member) {
    sample_.key = name.key;
    require(sample_.suffixes.insert(name.suffix).second, "has two members ", name.suffix);
    if (is_picture(name.suffix)) {
      require(!sample_.picture, "has two pictures");
      sample_.picture = member;
    } else if (name.suffix == "cls") {
      sample_.label = read_label(member);
    }
  }

  /// The sample gathered, which must be whole; none if there is none. The next one begins.
  std::optional<Sample> take() {
    if (sample_.key.empty()) return std::nullopt;
    require(sample_.picture.has_value(), "has no picture: expected a member jpg, jpeg or png");
    require(sample_.label.has_value(), "has no label: expected a member cls");
    return std::exchange(sample_, {});
  }

 private:
  template <class... Parts>
  void require(bool condition, const Parts&... problem) const {
    check<DataError>(condition, "tar_shards", file_.path(), ": sample \"", sample_.key, "\" ", problem...);
  }

  int64_t read_label(const TarMember& member) const {
    require(member.size <= kLongestLabel, "has a label of ", member.size, " bytes: expected a number");
    std::string text(static_cast<size_t>(member.size), ' ');
    file_.read(member.offset, std::as_writable_bytes(std::span(text)));
    const char* begin = text.data();
    const char* end = begin + text.size();
    while (begin != end && is_space(*begin)) ++begin;
    while (begin != end && is_space(end[-1])) --end;
    int64_t label = -1;
    const auto [stop, error] = std::from_chars(begin, end, label);
    require(error == std::errc{} && stop == end, "has the label \"", text, "\": expected a number");
    require(label >= 0 && label < classes_, "has the label ", label, ": expected 0 to ", classes_ - 1);
    return label;
  }

  File file_;
  int64_t classes_;
  Sample sample_;
};

}  // namespace

TarShardsSource::TarShardsSource(const TarShardsOptions& options) : options_(options) {
  constexpr int64_t kMostClasses = int64_t{1} << 31;
  const auto [channels, size] = options.picture;
  check(channels == 1 || channels == 3, "tar_shards", "channels: expected 1 or 3, got ", channels);
  check(size >= 1, "tar_shards", "size of the images: expected 1 or more pixels, got ", size);
  check(options.classes >= 1 && options.classes <= kMostClasses, "tar_shards",
        "number of classes: expected 1 to ", kMostClasses, ", got ", options.classes);
  for (const std::string& path : find_shards(options.directory, options.split)) index_shard(path);
  check<DataError>(!samples_.empty(), "tar_shards", options.directory, ": its ", shards_.size(),
                   " shards hold no samples");
  spec_ = {.name = options.name, .shape = {channels, size, size}, .classes = options.classes, .framed = true};
}

void TarShardsSource::index_shard(const std::string& path) {
  const int64_t before = size();
  Gatherer gatherer(path, options_.classes);
  const auto finish_sample = [&] {
    const auto sample = gatherer.take();
    if (!sample) return;
    samples_.push_back({sample->picture->offset, sample->picture->size, static_cast<int32_t>(shards_.size()),
                        static_cast<int32_t>(*sample->label)});
    names_.push_back(sample->picture->name);
  };
  list_tar(path, [&](const TarMember& member) {
    const std::optional<MemberName> name = split_name(member.name);
    if (!name) return;
    if (!gatherer.belongs_to_current(name->key)) finish_sample();
    gatherer.add(*name, member);
  });
  finish_sample();
  shards_.push_back(path);
  if (size() == before) log::info("[tar_shards] ", path, ": an empty shard, passed over");
}

void TarShardsSource::read(const SampleRequest& request) const {
  thread_local std::vector<std::byte> content;
  check(request.index >= 0 && request.index < size(), "tar_shards", "sample: expected 0 to ", size() - 1,
        ", got ", request.index);
  const Sample& sample = samples_[static_cast<size_t>(request.index)];
  const std::string& shard = shards_[static_cast<size_t>(sample.shard)];
  content.resize(static_cast<size_t>(sample.size));
  try {
    File(shard).read(sample.offset, content);
  } catch (const DataError& error) {
    throw BadSample(error.what());
  }
  decode_picture(content, to_text(shard, ": ", names_[request.index]), request.framing, options_.picture,
                 reinterpret_cast<uint8_t*>(request.input));
  request.set_label(sample.label);
}

}  // namespace lockstep::data
