#include "tests/data/tar_files.h"

#include <archive.h>
#include <archive_entry.h>

namespace lockstep::data {
namespace {

void choose_dialect(archive* writer, TarDialect dialect) {
  switch (dialect) {
    case TarDialect::kPosix:
      archive_write_set_format_pax(writer);  // extended headers for everybody
      break;
    case TarDialect::kGnu:
      archive_write_set_format_gnutar(writer);
      break;
    case TarDialect::kOld:
      archive_write_set_format_v7tar(writer);
      break;
  }
}

void describe(archive_entry* entry, const TarEntry& file) {
  archive_entry_set_pathname(entry, file.name.c_str());
  archive_entry_set_perm(entry, 0644);
  archive_entry_set_filetype(entry, AE_IFREG);
  archive_entry_set_size(entry, static_cast<int64_t>(file.content.size()));
  switch (file.kind) {
    case TarEntry::kFile:
      break;
    case TarEntry::kFolder:
      archive_entry_set_filetype(entry, AE_IFDIR);
      break;
    case TarEntry::kLink:
      archive_entry_set_filetype(entry, AE_IFLNK);
      archive_entry_set_symlink(entry, "elsewhere");
      break;
    case TarEntry::kHardLink:
      archive_entry_set_hardlink(entry, "elsewhere");
      break;
    case TarEntry::kWithHoles:
      archive_entry_sparse_add_entry(entry, 0, 512);
      break;
  }
}

}  // namespace

Bytes tar(const std::vector<TarEntry>& entries, TarDialect dialect) {
  constexpr size_t kMost = 8 << 20;
  Bytes bytes(kMost, '\0');
  size_t used = 0;
  archive* writer = archive_write_new();
  choose_dialect(writer, dialect);
  archive_write_open_memory(writer, bytes.data(), bytes.size(), &used);
  for (const TarEntry& file : entries) {
    archive_entry* entry = archive_entry_new();
    describe(entry, file);
    archive_write_header(writer, entry);
    archive_write_data(writer, file.content.data(), file.content.size());
    archive_entry_free(entry);
  }
  archive_write_free(writer);
  bytes.resize(used);
  return bytes;
}

}  // namespace lockstep::data
