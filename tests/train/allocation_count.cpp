#include "tests/train/allocation_count.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<int64_t> calls;
std::atomic<int64_t> bytes;

}  // namespace

// All the forms but the aligned ones: a sanitizer has its own of each, which would not know this memory.
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  ++calls;
  bytes += static_cast<int64_t>(size);
  return std::malloc(size > 0 ? size : 1);
}

void* operator new(std::size_t size) {
  void* const memory = operator new(size, std::nothrow);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void* operator new[](std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return operator new(size, std::nothrow);
}

void* operator new[](std::size_t size) {
  return operator new(size);
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}

void operator delete[](void* memory) noexcept {
  std::free(memory);
}

void operator delete[](void* memory, std::size_t /*size*/) noexcept {
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
