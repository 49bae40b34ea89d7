#include "train/machine_peaks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/support/run_ranks.h"
#include "train/cpu/peak_kernels.h"

namespace lockstep::train {
namespace {

// Far from any processor, but a mistake by a factor of 1000 or an empty loop is beyond it.
constexpr double kLeastFlops = 1e8;
constexpr double kMostFlopsPerThread = 1e12;
constexpr double kLeastBandwidth = 1e7;
constexpr double kMostBandwidth = 2e12;

TEST(MachinePeaks, AreMeasuredOnAllRanksAtOnce) {
  test::run_ranks(2, [](comm::Communicator& communicator) {
    const MachinePeaks peaks = measure_peaks(communicator, 1);
    EXPECT_GT(peaks.flops, kLeastFlops);
    EXPECT_LT(peaks.flops, kMostFlopsPerThread);
    EXPECT_GT(peaks.bandwidth, kLeastBandwidth);
    EXPECT_LT(peaks.bandwidth, kMostBandwidth);
    EXPECT_FALSE(peaks.instructions.empty());
  });
}

TEST(PeakKernels, ComputeWhatTheyClaim) {
  const cpu::PeakKernels& kernels = cpu::peak_kernels();
  const float sum = kernels.multiply_add(1000);  // of x = x / 2 + 1 / 2, which goes to 1
  EXPECT_GT(sum, 1);
  EXPECT_EQ(sum, std::round(sum));
  EXPECT_GE(kernels.operations_per_round, 2);

  constexpr int64_t kCount = 4 * cpu::kStreamBlock;
  alignas(cpu::kAlignment) float a[kCount];
  alignas(cpu::kAlignment) float b[kCount];
  alignas(cpu::kAlignment) float result[kCount];
  for (int64_t i = 0; i < kCount; ++i) {
    a[i] = static_cast<float>(i);
    b[i] = static_cast<float>(100 * i);
  }
  kernels.triad(a, b, 0.5F, result, kCount);
  for (int64_t i = 0; i < kCount; ++i) EXPECT_EQ(result[i], static_cast<float>(51 * i));
}

}  // namespace
}  // namespace lockstep::train
