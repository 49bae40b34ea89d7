#include "data/formats/image_folder.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <span>

#include "data/formats/file.h"
#include "runtime/error.h"
#include "runtime/log.h"

namespace lockstep::data {
namespace {

namespace fs = std::filesystem;

bool is_picture(const fs::directory_entry& entry) {
  constexpr std::array kSuffixes{".jpg", ".jpeg", ".png"};
  std::string suffix = entry.path().extension();
  for (char& letter : suffix) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return std::find(kSuffixes.begin(), kSuffixes.end(), suffix) != kSuffixes.end() && entry.is_regular_file();
}

bool is_hidden(const std::string& name) {
  return name.starts_with('.');
}

/// Calls `visit` for everything in a folder, in no certain order.
template <class Visit>
void for_each_entry(const std::string& folder, const Visit& visit) {
  try {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      visit(entry, entry.path().filename().string());
    }
  } catch (const fs::filesystem_error& error) {
    throw DataError(
        to_text("[image_folder] ", error.path1().string(), ": cannot be read: ", error.code().message()));
  }
}

std::vector<std::string> list_classes(const std::string& folder) {
  std::vector<std::string> names;
  for_each_entry(folder, [&](const fs::directory_entry& entry, const std::string& name) {
    if (!is_hidden(name) && entry.is_directory()) names.push_back(name);
  });
  std::sort(names.begin(), names.end());
  return names;
}

std::string find_folder(const std::string& directory, Split split) {
  std::string tried;
  const bool training = split == Split::kTrain;
  for (const char* name : training ? std::vector{"train"} : std::vector{"val", "test"}) {
    const std::string folder = fs::path(directory) / name;
    std::error_code unreadable;
    if (fs::is_directory(folder, unreadable)) return folder;
    tried += (tried.empty() ? "" : ", ") + folder;
  }
  throw DataError(to_text("[image_folder] no folder with the pictures of ",
                          training ? "training" : "evaluation", ": looked for ", tried));
}

/// A list may be long.
std::string show(const std::vector<std::string>& names) {
  constexpr size_t kMost = 50;
  std::string text;
  for (const std::string& name : std::span(names).first(std::min(names.size(), kMost))) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return names.size() > kMost ? to_text(text, ", ... (", names.size(), ")") : "[" + text + "]";
}

std::vector<std::string> only_in(const std::vector<std::string>& these,
                                 const std::vector<std::string>& others) {
  std::vector<std::string> names;
  std::set_difference(these.begin(), these.end(), others.begin(), others.end(), std::back_inserter(names));
  return names;
}

/// A class more or less would move the labels of all that follow.
void check_like_training(const ImageFolderOptions& options, const std::string& folder,
                         const std::vector<std::string>& classes) {
  const fs::path training = fs::path(options.directory) / "train";
  std::error_code unreadable;
  if (options.split == Split::kTrain || !fs::is_directory(training, unreadable)) return;
  const std::vector<std::string> expected = list_classes(training);
  check<DataError>(classes == expected, "image_folder", "the classes of ", folder, " are not those of ",
                   training.string(), ": missing ", show(only_in(expected, classes)), ", unknown ",
                   show(only_in(classes, expected)));
}

}  // namespace

ImageFolderSource::ImageFolderSource(const ImageFolderOptions& options)
    : options_(options), folder_(find_folder(options.directory, options.split)) {
  const auto [channels, size] = options.picture;
  check(channels == 1 || channels == 3, "image_folder", "channels: expected 1 or 3, got ", channels);
  check(size >= 1, "image_folder", "size of the images: expected 1 or more pixels, got ", size);
  std::vector<std::string> classes = list_classes(folder_);
  check<DataError>(!classes.empty(), "image_folder", folder_,
                   ": expected a folder for each class, found none");
  check_like_training(options, folder_, classes);
  const auto count = static_cast<int64_t>(classes.size());
  check<DataError>(options.classes == 0 || options.classes == count, "image_folder", folder_, ": expected ",
                   options.classes, " classes (data.classes), found ", count, ": ", show(classes));
  for (const std::string& name : classes) list_class(name);
  if (left_out_ > 0) {
    log::warning(
        "[image_folder] ", folder_, ": ", left_out_,
        " files in its class folders are hidden or not named .jpg, .jpeg or .png; they are left out");
  }
  spec_ = {.name = options.name,
           .shape = {channels, size, size},
           .classes = count,
           .class_names = std::move(classes),
           .framed = true};
}

void ImageFolderSource::list_class(const std::string& name) {
  std::vector<std::string> files;
  for_each_entry(fs::path(folder_) / name, [&](const fs::directory_entry& entry, const std::string& file) {
    if (!is_hidden(file) && is_picture(entry)) {
      files.push_back(file);
    } else {
      ++left_out_;
    }
  });
  check<DataError>(!files.empty(), "image_folder", folder_, "/", name,
                   ": expected pictures named .jpg, .jpeg or .png, found none");
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) files_.push_back(file);
  class_ends_.push_back(files_.size());
}

int64_t ImageFolderSource::label_of(int64_t index) const {
  return std::upper_bound(class_ends_.begin(), class_ends_.end(), index) - class_ends_.begin();
}

void ImageFolderSource::read(const SampleRequest& request) const {
  thread_local std::vector<std::byte> content;
  check(request.index >= 0 && request.index < size(), "image_folder", "sample: expected 0 to ", size() - 1,
        ", got ", request.index);
  const int64_t label = label_of(request.index);
  const std::string path =
      to_text(folder_, "/", spec_.class_names[static_cast<size_t>(label)], "/", files_[request.index]);
  try {
    read_file(path, content);
  } catch (const DataError& error) {
    throw BadSample(error.what());
  }
  decode_picture(content, path, request.framing, options_.picture, reinterpret_cast<uint8_t*>(request.input));
  request.set_label(label);
}

}  // namespace lockstep::data
