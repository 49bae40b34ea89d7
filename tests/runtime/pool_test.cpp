#include "runtime/pool.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "runtime/threads.h"

namespace lockstep::pool {
namespace {

TEST(Pool, SizeClasses) {
  EXPECT_EQ(size_class(0), 64U);
  EXPECT_EQ(size_class(1), 64U);
  EXPECT_EQ(size_class(64), 64U);
  EXPECT_EQ(size_class(65), 128U);
  EXPECT_EQ(size_class(1000), 1024U);
  EXPECT_EQ(size_class(1024), 1024U);
  EXPECT_EQ(size_class(1025), 1024U + 128);
  EXPECT_EQ(size_class(2048), 2048U);
  EXPECT_EQ(size_class(2049), 2048U + 256);
  EXPECT_EQ(size_class((9U << 20) + 1), 10U << 20);
}

TEST(Pool, SizeClassesWasteLessThanAnEighth) {
  for (size_t nbytes = 1025; nbytes < (1U << 20); nbytes += 997) {
    const size_t size = size_class(nbytes);
    ASSERT_GE(size, nbytes);
    ASSERT_LT(size - nbytes, nbytes / 8 + 1);
    ASSERT_EQ(size % 64, 0U);
    ASSERT_EQ(size_class(size), size) << "a class is its own class";
  }
}

TEST(Pool, BlocksAreAligned) {
  for (const size_t nbytes : {size_t{0}, size_t{1}, size_t{100}, size_t{5000}, size_t{3} << 20}) {
    void* const block = allocate(nbytes, kCpu);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 64, 0U);
    release(block, nbytes, kCpu);
  }
}

TEST(Pool, AFreedBlockServesTheNextRequestOfItsClass) {
  void* const first = allocate(70000, kCpu);
  release(first, 70000, kCpu);
  void* const second = allocate(70001, kCpu);
  EXPECT_EQ(second, first);
  void* const third = allocate(70000, kCpu);
  EXPECT_NE(third, second);
  release(second, 70001, kCpu);
  release(third, 70000, kCpu);
}

TEST(Pool, ASteadyStepMakesNoDeviceRequest) {
  const std::vector<size_t> requests{64, 4096, 4096, 1 << 20, 3 << 20, 123457, 0};
  const auto step = [&] {
    std::vector<void*> blocks;
    for (const size_t nbytes : requests) blocks.push_back(allocate(nbytes, kCpu));
    for (size_t i = 0; i < blocks.size(); ++i) release(blocks[i], requests[i], kCpu);
  };
  trim(kCpu);
  step();
  const Statistics before = statistics(kCpu);
  for (int i = 0; i < 10; ++i) step();
  const Statistics after = statistics(kCpu);
  EXPECT_EQ(after.device_requests, before.device_requests);
  EXPECT_EQ(after.requests, before.requests + 10 * requests.size());
  EXPECT_EQ(after.bytes_in_use, before.bytes_in_use);
  EXPECT_EQ(after.bytes_cached, before.bytes_cached);
}

TEST(Pool, StatisticsCountSizeClasses) {
  trim(kCpu);
  const Statistics before = statistics(kCpu);
  EXPECT_EQ(before.bytes_cached, 0U);
  void* const block = allocate(1025, kCpu);
  const Statistics during = statistics(kCpu);
  EXPECT_EQ(during.requests, before.requests + 1);
  EXPECT_EQ(during.device_requests, before.device_requests + 1);
  EXPECT_EQ(during.bytes_in_use, before.bytes_in_use + 1152);
  EXPECT_EQ(during.bytes_cached, 0U);
  EXPECT_GE(during.peak_bytes_in_use, during.bytes_in_use);
  release(block, 1025, kCpu);
  const Statistics after = statistics(kCpu);
  EXPECT_EQ(after.bytes_in_use, before.bytes_in_use);
  EXPECT_EQ(after.bytes_cached, 1152U);
  EXPECT_EQ(after.peak_bytes_in_use, during.peak_bytes_in_use);
  trim(kCpu);
  EXPECT_EQ(statistics(kCpu).bytes_cached, 0U);
}

TEST(Pool, AnImpossibleRequestFailsAfterTheCacheWasGivenBack) {
  release(allocate(5000, kCpu), 5000, kCpu);
  EXPECT_GT(statistics(kCpu).bytes_cached, 0U);
  EXPECT_THROW(allocate(size_t{1} << 60, kCpu), DeviceError);
  EXPECT_EQ(statistics(kCpu).bytes_cached, 0U);
  EXPECT_THROW(allocate(~size_t{0}, kCpu), DeviceError);
  void* const block = allocate(5000, kCpu);
  EXPECT_NE(block, nullptr) << "the pool works on after a failure";
  release(block, 5000, kCpu);
}

TEST(Pool, ThreadsNeverShareABlock) {
  constexpr int kThreads = 4;
  std::vector<std::thread> threads;
  std::vector<int> foreign_bytes(kThreads);
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.push_back(start_thread("pool", [thread, &foreign_bytes] {
      for (int round = 0; round < 500; ++round) {
        const size_t nbytes = static_cast<size_t>(64 + round % 7 * 64);
        auto* const block = static_cast<char*>(allocate(nbytes, kCpu));
        std::memset(block, thread, nbytes);
        std::this_thread::yield();
        for (size_t i = 0; i < nbytes; ++i) foreign_bytes[static_cast<size_t>(thread)] += block[i] != thread;
        release(block, nbytes, kCpu);
      }
    }));
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(foreign_bytes, std::vector<int>(kThreads, 0));
}

TEST(Pool, UnknownDevicesAreNamed) {
  EXPECT_THROW(allocate(64, Device{DeviceKind::kCuda, 1000}), DeviceError);
  EXPECT_THROW(allocate(64, Device{DeviceKind::kCuda, -1}), DeviceError);
}

}  // namespace
}  // namespace lockstep::pool
