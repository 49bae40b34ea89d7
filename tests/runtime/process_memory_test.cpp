#include "runtime/process_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

namespace lockstep {
namespace {

constexpr int64_t kMebibyte = 1 << 20;

TEST(ProcessMemory, FollowsWhatIsTouchedAndGivenBack) {
  constexpr int64_t kBytes = 64 * kMebibyte;
  const ProcessMemory before = process_memory();
  EXPECT_GT(before.resident, kMebibyte);
  EXPECT_GE(before.peak, before.resident);
  void* memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  EXPECT_NEAR(process_memory().resident, before.resident, 4 * kMebibyte) << "untouched memory costs nothing";
  std::memset(memory, 1, kBytes);
  const ProcessMemory with = process_memory();
  EXPECT_NEAR(with.resident, before.resident + kBytes, 4 * kMebibyte);
  EXPECT_GE(with.peak, before.resident + kBytes - 4 * kMebibyte);
  ::munmap(memory, kBytes);
  const ProcessMemory after = process_memory();
  EXPECT_NEAR(after.resident, before.resident, 4 * kMebibyte);
  EXPECT_NEAR(after.peak, with.peak, 4 * kMebibyte) << "the peak stays";
}

}  // namespace
}  // namespace lockstep
