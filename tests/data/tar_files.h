// Tar files for tests, made by libarchive.
#pragma once

#include <string>
#include <vector>

#include "tests/data/idx_files.h"

namespace lockstep::data {

struct TarEntry {
  std::string name;
  Bytes content = {};
  enum Kind { kFile, kFolder, kLink, kHardLink, kWithHoles } kind = kFile;
};

enum class TarDialect { kPosix, kGnu, kOld };

Bytes tar(const std::vector<TarEntry>& entries, TarDialect dialect = TarDialect::kPosix);

}  // namespace lockstep::data
