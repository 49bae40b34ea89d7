#include "data/formats/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>

#include "runtime/error.h"

namespace lockstep::data {

// O_NONBLOCK: a named pipe would wait for its writer, instead of being refused. It has no effect on files.
File::File(const std::string& path)
    : path_(path), descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  check<DataError>(descriptor_ >= 0, "data", path, ": cannot be opened: ", std::strerror(errno));
  struct stat status {};
  if (fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode)) {
    size_ = status.st_size;
    return;
  }
  close(descriptor_);
  throw DataError(to_text("[data] ", path, ": is no regular file"));
}

File::~File() {
  close(descriptor_);
}

void File::read(int64_t offset, std::span<std::byte> target) const {
  size_t filled = 0;
  while (filled < target.size()) {
    const ssize_t count = pread(descriptor_, target.data() + filled, target.size() - filled,
                                offset + static_cast<int64_t>(filled));
    if (count < 0 && errno == EINTR) continue;
    check<DataError>(count >= 0, "data", path_, ": cannot be read: ", std::strerror(errno));
    check<DataError>(count > 0, "data", path_, ": expected ", target.size(), " bytes at byte ", offset,
                     ", found ", filled);
    filled += static_cast<size_t>(count);
  }
}

void read_file(const std::string& path, std::vector<std::byte>& content) {
  const File file(path);
  content.resize(static_cast<size_t>(file.size()));
  file.read(0, content);
}

std::string show_start(std::span<const std::byte> bytes) {
  constexpr size_t kShown = 16;
  std::string text;
  for (const std::byte byte : bytes.first(std::min(bytes.size(), kShown))) {
    const auto character = std::to_integer<unsigned char>(byte);
    text += std::isprint(character) != 0 ? static_cast<char>(character) : '.';
  }
  return "\"" + text + "\"";
}

}  // namespace lockstep::data
