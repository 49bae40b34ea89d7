// What is where in a tar file, so that its members can be read in any order.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace lockstep::data {

/// A regular file inside a tar file.
struct TarMember {
  std::string name;
  int64_t offset = 0;  ///< of its content in the tar file
  int64_t size = 0;
};

/// Calls `visit` for the regular members, in their order; reads headers only. An empty file has no members.
/// Throws DataError naming the file and the offset when it is no uncompressed tar file, is cut short inside a
/// member, or has members with holes, whose content is not in one piece.
void list_tar(const std::string& path, const std::function<void(const TarMember&)>& visit);

}  // namespace lockstep::data
