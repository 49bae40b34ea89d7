#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/device_memory.h"
#include "runtime/error.h"

namespace lockstep {
namespace {

// Holds on machines without a driver, where the first device is already missing.
TEST(CudaMemory, ADeviceThatIsNotThereIsNamed) {
  const int missing = count_cuda_devices();
  try {
    allocate_cuda_memory(64, missing);
    FAIL() << "no exception";
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find(to_text("cuda:", missing)), std::string::npos) << error.what();
  }
}

TEST(CudaMemory, CountIsStable) {
  const int devices = count_cuda_devices();
  EXPECT_GE(devices, 0);
  EXPECT_EQ(count_cuda_devices(), devices);
}

TEST(CudaMemory, BytesSurviveTheWayThere) {
  if (count_cuda_devices() == 0) GTEST_SKIP() << "no GPU";
  const std::vector<int> sent{1, 2, 3};
  std::vector<int> received(3);
  const size_t nbytes = sent.size() * sizeof(int);
  void* const first = allocate_cuda_memory(nbytes, 0);
  void* const second = allocate_cuda_memory(nbytes, 0);
  copy_cuda_memory(first, sent.data(), nbytes);
  copy_cuda_memory(second, first, nbytes);
  copy_cuda_memory(received.data(), second, nbytes);
  free_cuda_memory(first, 0);
  free_cuda_memory(second, 0);
  EXPECT_EQ(received, sent);
}

TEST(CudaMemory, AnImpossibleRequestFailsAndTheNextOneWorks) {
  if (count_cuda_devices() == 0) GTEST_SKIP() << "no GPU";
  EXPECT_THROW(allocate_cuda_memory(size_t{1} << 60, 0), DeviceError);
  void* const memory = allocate_cuda_memory(64, 0);
  EXPECT_NE(memory, nullptr);
  free_cuda_memory(memory, 0);
}

}  // namespace
}  // namespace lockstep
