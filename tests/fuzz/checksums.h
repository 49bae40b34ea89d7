// Makes damaged files right where a checksum would give the damage away. What is damaged too far stays as it
// is.
#pragma once

#include "tests/fuzz/target.h"

namespace lockstep::fuzz {

/// Checksum and length at the end of a gzip file, for what its compressed data still gives.
Bytes with_gzip_trailer(Bytes file);
/// The checksum of every chunk.
Bytes with_png_checksums(Bytes file);
/// The checksum of every header.
Bytes with_tar_checksums(Bytes file);

}  // namespace lockstep::fuzz
