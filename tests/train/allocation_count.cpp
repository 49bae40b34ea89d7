#include "tests/train/allocation_count.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<int64_t> calls;
std::atomic<int64_t> bytes;

}  // namespace

// The other forms of new and delete end in these, aligned ones excepted.
void* operator new(std::size_t size) {
  ++calls;
  bytes += static_cast<int64_t>(size);
  void* const memory = std::malloc(size > 0 ? size : 1);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}

void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}

namespace lockstep::test {

AllocationCount allocation_count() {
  return {calls, bytes};
}

}  // namespace lockstep::test
