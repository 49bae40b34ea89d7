#include "tests/fuzz/target.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "runtime/error.h"

namespace lockstep::fuzz {
namespace {

namespace fs = std::filesystem;

const Bytes kSeparator = "\n%%file%%\n";
/// Of an error's text, of which the end may repeat the input.
constexpr size_t kToldApart = 160;

class ScratchFolder {
 public:
  ScratchFolder() {
    for (const fs::path& parent : {fs::path("/dev/shm"), fs::temp_directory_path()}) {
      path_ = parent / "lockstep-fuzz-XXXXXX";
      if (mkdtemp(path_.data()) != nullptr) return;
    }
    throw std::runtime_error("cannot make a folder " + path_);
  }
  ~ScratchFolder() {
    std::error_code ignored;
    if (getpid() == owner_) fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  pid_t owner_ = getpid();
};

bool is_word(const Bytes& text) {
  return std::all_of(text.begin(), text.end(), [](char letter) { return letter >= 'a' && letter <= 'z'; });
}

/// Its words: what is quoted, a number or a name would be another one for every input.
Bytes without_details(const Bytes& text) {
  Bytes words;
  Bytes word;
  bool quoted = false;
  for (const char letter : text + ' ') {
    if (letter == '"' || letter == '\'') quoted = !quoted;
    if (quoted) continue;
    if (letter != ' ' && letter != '\n') {
      if (std::strchr("[](){}:;,.\"'", letter) == nullptr) word += letter;
      continue;
    }
    if (is_word(word)) words += word + ' ';
    word.clear();
  }
  return words.substr(0, kToldApart);
}

}  // namespace

Bytes outcome_of(const Bytes& input) {
  try {
    kTarget.parse(input);
    return "";
  } catch (const Error& error) {
    return "refused: " + without_details(error.what());
  }
}

std::vector<Bytes> split_files(const Bytes& input, size_t count) {
  std::vector<Bytes> files;
  size_t begin = 0;
  while (files.size() < count) {
    const size_t end = files.size() + 1 < count ? input.find(kSeparator, begin) : Bytes::npos;
    files.push_back(input.substr(begin, end - begin));
    begin = end == Bytes::npos ? input.size() : end + kSeparator.size();
  }
  return files;
}

Bytes join_files(const std::vector<Bytes>& files) {
  Bytes input;
  for (const Bytes& file : files) input += (&file == files.data() ? "" : kSeparator) + file;
  return input;
}

Bytes little_endian(uint64_t value, size_t nbytes) {
  Bytes bytes;
  for (size_t i = 0; i < nbytes; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

Bytes big_endian(uint64_t value, size_t nbytes) {
  Bytes bytes = little_endian(value, nbytes);
  std::reverse(bytes.begin(), bytes.end());
  return bytes;
}

const std::string& scratch_folder() {
  static const ScratchFolder folder;
  return folder.path();
}

std::string write_scratch(const std::string& name, const Bytes& content) {
  std::string path = scratch_folder() + '/' + name;
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const ssize_t written = write(file, content.data(), content.size());
  if (file < 0 || close(file) != 0 || written != static_cast<ssize_t>(content.size()))
    throw std::runtime_error("cannot write " + path);
  return path;
}

}  // namespace lockstep::fuzz
