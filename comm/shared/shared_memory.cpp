#include "comm/shared/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>

#include "runtime/error.h"

namespace lockstep::comm {
namespace {

std::byte* map_segment(int descriptor, size_t nbytes) {
  void* const memory = mmap(nullptr, nbytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

const char* last_error() {
  return std::strerror(errno);
}

/// Over all SharedMemory objects of the process, since others know it by its process id.
uint64_t next_segment() {
  static std::atomic<uint64_t> segments{0};
  return ++segments;
}

}  // namespace

struct SharedMemory::Segments {
  std::mutex mutex;
  std::map<const std::byte*, SharedPlace> by_base;
};

SharedMemory::SharedMemory() : own_(std::make_shared<Segments>()) {}

SharedMemory::~SharedMemory() {
  for (const auto& [segment, memory] : mapped_) munmap(memory.first, memory.second);
}

std::shared_ptr<Storage> SharedMemory::allocate(size_t nbytes) {
  const size_t length = nbytes > 0 ? nbytes : 1;
  const int descriptor = memfd_create("lockstep", MFD_CLOEXEC);
  check<DeviceError>(descriptor >= 0, "shared memory", "memfd_create: ", last_error());
  // Allocated now: otherwise a lack of memory would show as a bus error, at the first touch.
  const int status = posix_fallocate(descriptor, 0, static_cast<off_t>(length));
  std::byte* const base = status == 0 ? map_segment(descriptor, length) : nullptr;
  if (base == nullptr) {
    const std::string reason = status != 0 ? std::strerror(status) : last_error();
    close(descriptor);
    throw DeviceError(to_text("[shared memory] no ", nbytes, " bytes: ", reason));
  }
  SharedPlace place;
  place.process = getpid();
  place.descriptor = descriptor;
  place.segment = next_segment();
  place.nbytes = length;
  place.base = reinterpret_cast<uintptr_t>(base);
  const std::lock_guard guard(own_->mutex);
  own_->by_base[base] = place;
  const auto release = [segments = own_, base, length, descriptor] {
    {
      const std::lock_guard release_guard(segments->mutex);
      segments->by_base.erase(base);
    }
    munmap(base, length);
    close(descriptor);
  };
  return Storage::wrap(base, nbytes, kCpu, release);
}

std::optional<SharedPlace> SharedMemory::find(const void* data, size_t nbytes) const {
  const auto* const begin = static_cast<const std::byte*>(data);
  const std::lock_guard guard(own_->mutex);
  auto segment = own_->by_base.upper_bound(begin);
  if (segment == own_->by_base.begin()) return std::nullopt;
  --segment;
  SharedPlace place = segment->second;
  place.offset = static_cast<uint64_t>(begin - segment->first);
  if (place.offset + nbytes > place.nbytes) return std::nullopt;
  return place;
}

std::byte* SharedMemory::reach(const SharedPlace& place) {
  // Ranks that are threads of one process need no second mapping.
  if (place.process == getpid()) return reinterpret_cast<std::byte*>(place.base) + place.offset;
  const std::lock_guard guard(mutex_);
  auto& [memory, nbytes] = mapped_[{place.process, place.segment}];
  if (memory == nullptr) {
    const std::string path = to_text("/proc/", place.process, "/fd/", place.descriptor);
    const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
    check<CommError>(descriptor >= 0, "shared memory", path, ": ", last_error());
    memory = map_segment(descriptor, place.nbytes);
    const std::string reason = memory == nullptr ? last_error() : "";
    close(descriptor);
    check<CommError>(memory != nullptr, "shared memory", path, " (", place.nbytes, " bytes): ", reason);
    nbytes = place.nbytes;
  }
  return memory + place.offset;
}

}  // namespace lockstep::comm
