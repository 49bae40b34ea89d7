#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "runtime/device_memory.h"
#include "runtime/error.h"

namespace lockstep {

void* allocate_cpu_memory(size_t nbytes) {
  constexpr size_t kCacheLine = 64;
  constexpr size_t kHugePage = size_t{2} << 20;
  const bool huge = nbytes >= kHugePage;
  void* memory = nullptr;
  const int failure = posix_memalign(&memory, huge ? kHugePage : kCacheLine, nbytes);
  check<DeviceError>(failure == 0, "allocate", "out of memory on cpu: ", nbytes, " bytes were asked for");
  // Advice only: where huge pages are off, the block works with small ones.
  if (huge) madvise(memory, nbytes, MADV_HUGEPAGE);
  return memory;
}

void free_cpu_memory(void* memory) noexcept {
  std::free(memory);
}

void copy_cpu_memory(void* target, const void* source, size_t nbytes) {
  std::memcpy(target, source, nbytes);
}

}  // namespace lockstep
