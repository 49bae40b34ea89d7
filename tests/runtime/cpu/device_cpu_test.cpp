#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "runtime/device_memory.h"
#include "runtime/error.h"

namespace lockstep {
namespace {

TEST(CpuMemory, IsAlignedToCacheLinesAndLargeBlocksToHugePages) {
  constexpr size_t kHugePage = size_t{2} << 20;
  for (const size_t nbytes : {size_t{64}, size_t{5000}, kHugePage - 64, kHugePage, 3 * kHugePage + 64}) {
    void* const memory = allocate_cpu_memory(nbytes);
    const size_t alignment = nbytes >= kHugePage ? kHugePage : 64;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % alignment, 0U) << nbytes;
    std::memset(memory, 1, nbytes);
    free_cpu_memory(memory);
  }
}

TEST(CpuMemory, AnImpossibleRequestNamesItsSize) {
  try {
    allocate_cpu_memory(size_t{1} << 60);
    FAIL() << "no exception";
  } catch (const DeviceError& error) {
    EXPECT_STREQ(error.what(), "[allocate] out of memory on cpu: 1152921504606846976 bytes were asked for");
  }
}

TEST(CpuMemory, CopiesExactlyTheBytesAskedFor) {
  const std::string source = "lockstep";
  std::string target = "........";
  copy_cpu_memory(target.data(), source.data(), 4);
  EXPECT_EQ(target, "lock....");
}

}  // namespace
}  // namespace lockstep
