// Writing files so that a crash at any moment leaves the old content or the new, and reading them back.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "runtime/error.h"
#include "train/hash.h"

namespace lockstep::train {

/// The file system refused; the text names operation, path and reason.
class FileError : public Error {
 public:
  FileError(const std::string& operation, const std::string& path, int error_number);
  /// The same call may work a moment later: an input/output error or a server that was away, not a full disk.
  bool transient() const;

 private:
  int error_number_;
};

/// The system calls that can lose data, as a table so that a test can make single calls fail. They return as
/// the originals do and set errno.
struct FileOperations {
  std::function<ssize_t(int file, const void* data, size_t nbytes)> write;
  std::function<int(int file)> fsync;
  std::function<int(const char* from, const char* to)> rename;
};

/// The real ones.
const FileOperations& system_files();

/// Owns an open file; closes it without looking at the result, so a writer calls FileWriter::finish() first.
class FileDescriptor {
 public:
  /// `flags` as for open(2). Throws FileError.
  FileDescriptor(const std::string& path, int flags);
  ~FileDescriptor();
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  int get() const { return descriptor_; }
  uint64_t size() const;
  /// Fills `data` from `offset`; throws DataError when the file ends before that.
  void read_at(uint64_t offset, void* data, size_t nbytes) const;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int descriptor_;
};

struct FileDigest {
  uint64_t nbytes = 0;
  uint64_t hash = 0;  ///< XXH3 of the content
  bool operator==(const FileDigest&) const = default;
};

/// Reads the whole file. Throws FileError.
FileDigest digest_of(const std::string& path);

/// Writes a new file from front to back.
class FileWriter {
 public:
  /// Replaces an existing file. `operations` must live as long as the writer.
  explicit FileWriter(const std::string& path, const FileOperations& operations = system_files());
  void append(const void* data, size_t nbytes);
  void append(const std::string& text) { append(text.data(), text.size()); }
  /// The content of another file. Throws FileError.
  void append_file(const std::string& path);
  /// Returns when the content is on the disk. Nothing may be appended after it.
  FileDigest finish();

 private:
  FileDescriptor file_;
  const FileOperations& operations_;
  Hash64 hash_;
  uint64_t nbytes_ = 0;
};

/// Makes the names in a folder durable: what was created, renamed or removed in it.
void sync_folder(const std::string& path, const FileOperations& operations = system_files());

/// Writes `path` under a temporary name in the same folder and renames it when it is complete and on the
/// disk. On an error the old file is untouched and the temporary one removed.
void replace_file(const std::string& path, const std::function<void(FileWriter&)>& write_content,
                  const FileOperations& operations = system_files());

}  // namespace lockstep::train
