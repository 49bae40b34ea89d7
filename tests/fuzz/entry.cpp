// What libFuzzer and the sanitizers call.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t nbytes) {
  lockstep::fuzz::outcome_of({reinterpret_cast<const char*>(data), nbytes});
  return 0;
}

/// As much memory as a small file may ever ask for at once. Freed memory is kept back for a short time only:
/// most of a run's time would go into getting new memory.
extern "C" const char* __asan_default_options() {
  return "max_allocation_size_mb=256:allocator_may_return_null=0:quarantine_size_mb=8:malloc_context_size=4";
}
