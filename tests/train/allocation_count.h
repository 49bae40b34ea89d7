// How much this program has taken from the heap with `new`, counted by the operators of allocation_count.cpp.
#pragma once

#include <cstdint>

namespace lockstep::test {

struct AllocationCount {
  int64_t calls = 0;
  int64_t bytes = 0;
};

/// Since the start, on all threads.
AllocationCount allocation_count();

}  // namespace lockstep::test
