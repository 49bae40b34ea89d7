#include "runtime/device.h"

#include <gtest/gtest.h>

#include <cstring>

namespace lockstep {
namespace {

TEST(Device, Names) {
  EXPECT_EQ(to_text(kCpu), "cpu");
  EXPECT_EQ(to_text(Device{DeviceKind::kCuda, 1}), "cuda:1");
}

TEST(Device, CpuWorkGoesToTheCpuCall) {
  EXPECT_EQ(on_device(
                kCpu, [] { return 1; }, [](auto) { return 2; }),
            1);
}

TEST(Device, CudaWorkGoesToTheCudaCallOrIsRefused) {
  const Device cuda{DeviceKind::kCuda, 0};
  const auto choose = [&] {
    return on_device(
        cuda, [] { return 1; }, [](auto) { return 2; });
  };
  if constexpr (kHasCuda) {
    EXPECT_EQ(choose(), 2);
  } else {
    EXPECT_THROW(choose(), DeviceError);
  }
}

TEST(Device, ADeviceThatIsNotThereIsAnError) {
  ASSERT_GE(cuda_device_count(), 0);
  const Device missing{DeviceKind::kCuda, cuda_device_count()};
  EXPECT_THROW(allocate_device_memory(64, missing), DeviceError);
}

TEST(Device, CpuMemoryIsAllocatedCopiedAndFreed) {
  void* const source = allocate_device_memory(100, kCpu);
  void* const target = allocate_device_memory(100, kCpu);
  std::memset(source, 7, 100);
  std::memset(target, 0, 100);
  copy_device_memory(target, kCpu, source, kCpu, 99);
  EXPECT_EQ(std::memcmp(target, source, 99), 0);
  EXPECT_EQ(static_cast<char*>(target)[99], 0);
  free_device_memory(source, kCpu);
  free_device_memory(target, kCpu);
}

}  // namespace
}  // namespace lockstep
