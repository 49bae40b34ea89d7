#include "data/formats/tar_index.h"

#include <archive.h>
#include <archive_entry.h>

#include <memory>

#include "data/formats/file.h"
#include "runtime/error.h"

namespace lockstep::data {
namespace {

constexpr int64_t kBlockBytes = 512;     // what headers and contents are padded to
constexpr size_t kReadBytes = 32 << 10;  // libarchive reads at a time, and skips larger contents

int64_t padded(int64_t size) {
  return (size + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
}

struct Free {
  void operator()(archive* reader) const { archive_read_free(reader); }
};

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path), archive_(archive_read_new()) {
    archive_read_support_format_tar(archive_.get());
    const int result = archive_read_open_filename(archive_.get(), path.c_str(), kReadBytes);
    if (result != ARCHIVE_OK) fail();
  }

  /// The next member; none at the end.
  archive_entry* next() {
    archive_entry* entry = nullptr;
    const int result = archive_read_next_header(archive_.get(), &entry);
    if (result == ARCHIVE_EOF) return nullptr;
    if (result != ARCHIVE_OK && result != ARCHIVE_WARN) fail();
    last_header_ = position();
    return entry;
  }

  /// Where the header read last begins: the end of the member before it.
  int64_t position() const { return archive_read_header_position(archive_.get()); }

 private:
  [[noreturn]] void fail() const {
    const char* text = archive_error_string(archive_.get());
    throw DataError(to_text("[tar] ", path_,
                            ": no tar file, or damaged or cut short, in or behind the member at byte ",
                            last_header_, " (", text == nullptr ? "unknown error" : text, ")"));
  }

  std::string path_;
  std::unique_ptr<archive, Free> archive_;
  int64_t last_header_ = 0;
};

}  // namespace

void list_tar(const std::string& path, const std::function<void(const TarMember&)>& visit) {
  const int64_t file_size = File(path).size();
  if (file_size == 0) return;
  Reader reader(path);
  TarMember member;
  int64_t header = 0;
  bool found = false;
  // libarchive says where headers begin, not contents. But a content ends where the next header begins.
  const auto finish = [&] {
    if (!found) return;
    // The size that an extended header names need not be that of the bytes that are there.
    const int64_t room = reader.position() - header - kBlockBytes;
    check<DataError>(member.size >= 0 && member.size <= room, "tar", path, ": damaged or cut short: \"",
                     member.name, "\" at byte ", header, " has ", member.size, " bytes: expected 0 to ",
                     room);
    member.offset = reader.position() - padded(member.size);
    check<DataError>(member.offset + member.size <= file_size, "tar", path, ": cut short: \"", member.name,
                     "\" at byte ", member.offset, " has ", member.size, " bytes, but the file ends at byte ",
                     file_size);
    visit(member);
    found = false;
  };
  while (archive_entry* entry = reader.next()) {
    finish();
    if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) != nullptr) continue;
    check<DataError>(archive_entry_sparse_count(entry) == 0, "tar", path, ": \"",
                     archive_entry_pathname(entry), "\" at byte ", reader.position(), " has holes");
    found = true;
    header = reader.position();
    member = {archive_entry_pathname(entry), 0, archive_entry_size(entry)};
  }
  finish();
}

}  // namespace lockstep::data
