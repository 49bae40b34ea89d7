#include "train/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <vector>

namespace lockstep::train {

namespace fs = std::filesystem;

namespace {

/// Hands the content of a file on, from front to back; returns its size.
uint64_t for_each_portion(const std::string& path,
                          const std::function<void(const std::byte* data, size_t nbytes)>& take) {
  const FileDescriptor file(path, O_RDONLY);
  const uint64_t size = file.size();
  std::vector<std::byte> buffer(std::min<uint64_t>(size, uint64_t{1} << 20));
  for (uint64_t offset = 0; offset < size;) {
    const size_t nbytes = std::min<uint64_t>(buffer.size(), size - offset);
    file.read_at(offset, buffer.data(), nbytes);
    take(buffer.data(), nbytes);
    offset += nbytes;
  }
  return size;
}

}  // namespace

FileError::FileError(const std::string& operation, const std::string& path, int error_number)
    : Error(to_text("[", operation, "] \"", path, "\": ", std::strerror(error_number))),
      error_number_(error_number) {}

bool FileError::transient() const {
  switch (error_number_) {
    case EIO:
    case EAGAIN:
    case EINTR:
    case ESTALE:
    case ETIMEDOUT:
      return true;
    default:
      return false;
  }
}

const FileOperations& system_files() {
  static const FileOperations operations{::write, ::fsync, ::rename};
  return operations;
}

FileDescriptor::FileDescriptor(const std::string& path, int flags)
    : path_(path), descriptor_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) throw FileError("open", path, errno);
}

FileDescriptor::~FileDescriptor() {
  ::close(descriptor_);
}

uint64_t FileDescriptor::size() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) throw FileError("stat", path_, errno);
  return static_cast<uint64_t>(status.st_size);
}

void FileDescriptor::read_at(uint64_t offset, void* data, size_t nbytes) const {
  auto* target = static_cast<std::byte*>(data);
  while (nbytes > 0) {
    const ssize_t got = ::pread(descriptor_, target, nbytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw FileError("read", path_, errno);
    check<DataError>(got > 0, "read", '"', path_, "\": the file ends at byte ", offset, ": expected ", nbytes,
                     " more");
    target += got;
    offset += static_cast<uint64_t>(got);
    nbytes -= static_cast<size_t>(got);
  }
}

FileDigest digest_of(const std::string& path) {
  Hash64 hash;
  const uint64_t size =
      for_each_portion(path, [&](const std::byte* data, size_t nbytes) { hash.update(data, nbytes); });
  return {size, hash.value()};
}

FileWriter::FileWriter(const std::string& path, const FileOperations& operations)
    : file_(path, O_WRONLY | O_CREAT | O_TRUNC), operations_(operations) {}

void FileWriter::append(const void* data, size_t nbytes) {
  hash_.update(data, nbytes);
  nbytes_ += nbytes;
  const auto* source = static_cast<const std::byte*>(data);
  while (nbytes > 0) {
    const ssize_t written = operations_.write(file_.get(), source, nbytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw FileError("write", file_.path(), errno);
    source += written;
    nbytes -= static_cast<size_t>(written);
  }
}

void FileWriter::append_file(const std::string& path) {
  for_each_portion(path, [this](const std::byte* data, size_t nbytes) { append(data, nbytes); });
}

FileDigest FileWriter::finish() {
  if (operations_.fsync(file_.get()) != 0) throw FileError("fsync", file_.path(), errno);
  return {nbytes_, hash_.value()};
}

void sync_folder(const std::string& path, const FileOperations& operations) {
  const FileDescriptor folder(path, O_RDONLY | O_DIRECTORY);
  if (operations.fsync(folder.get()) != 0) throw FileError("fsync", path, errno);
}

void replace_file(const std::string& path, const std::function<void(FileWriter&)>& write_content,
                  const FileOperations& operations) {
  const std::string temporary = path + ".partial";
  try {
    FileWriter writer(temporary, operations);
    write_content(writer);
    writer.finish();
    if (operations.rename(temporary.c_str(), path.c_str()) != 0) throw FileError("rename", path, errno);
  } catch (...) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    throw;
  }
  const fs::path folder = fs::path(path).parent_path();
  sync_folder(folder.empty() ? "." : folder.string(), operations);
}

}  // namespace lockstep::train
