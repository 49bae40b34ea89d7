// Memory that the processes of one machine reach in each other.
//
// Segments are anonymous files in memory (memfd_create): they take nothing of /dev/shm, whose size containers
// limit, and vanish with the last process that maps them, however it ends. Another process opens a segment
// through /proc/PID/fd, and keeps it mapped from then on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "runtime/storage.h"

namespace lockstep::comm {

/// Where something lies in a process's shared memory, as it is sent to others.
struct SharedPlace {
  int64_t process = 0;     ///< its id
  int32_t descriptor = 0;  ///< of the segment, in that process
  int32_t padding = 0;
  uint64_t segment = 0;  ///< never the same for two segments of a process
  uint64_t nbytes = 0;   ///< of the segment
  uint64_t base = 0;     ///< the segment's address in that process
  uint64_t offset = 0;   ///< into the segment
};

/// Any thread.
class SharedMemory {
 public:
  SharedMemory();
  /// Unmaps what belongs to others; own segments live as long as their Storage.
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  /// Zeros, in a segment of its own. Throws DeviceError when the system has none left.
  std::shared_ptr<Storage> allocate(size_t nbytes);

  /// Nothing if [data, data + nbytes) does not lie in memory that allocate() gave.
  std::optional<SharedPlace> find(const void* data, size_t nbytes) const;

  /// The address here of a place that a process of this machine told. Throws CommError when it cannot be
  /// reached.
  std::byte* reach(const SharedPlace& place);

 private:
  struct Segments;
  std::shared_ptr<Segments> own_;  // shared with the storages, which may live longer
  std::mutex mutex_;               // of mapped_
  std::map<std::pair<int64_t, uint64_t>, std::pair<std::byte*, size_t>> mapped_;  // by process and segment
};

}  // namespace lockstep::comm
