#include "optim/segment_norms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <mutex>
#include <numeric>

#include "runtime/threads.h"
#include "tests/optim/parameters.h"

namespace lockstep::optim {
namespace {

const std::vector<int64_t> kCounts{1, 0, kNormBlock, kNormBlock + 1, 100003, 7};

/// The norms of random segments that lie one behind another, and of their doubles.
std::vector<TrustNorms> measure(int threads, const Tensor& values, const std::vector<int64_t>& counts) {
  configure_compute_threads(threads);
  std::vector<int64_t> offsets(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), offsets.begin(), int64_t{0});
  SegmentNorms segments(counts);
  std::vector<TrustNorms> norms = segments.measure([&](const SegmentNorms::Block& block) -> TrustSums {
    const double sum =
        sum_of_squares(values.data<float>() + offsets[block.segment] + block.begin, block.count);
    return {sum, 4 * sum};
  });
  configure_compute_threads(1);
  return norms;
}

Tensor random_values() {
  return test::random_tensor({std::accumulate(kCounts.begin(), kCounts.end(), int64_t{0})}, 5);
}

TEST(SegmentNorms, AreThoseOfTheSegments) {
  const Tensor values = random_values();
  const auto norms = measure(1, values, kCounts);
  ASSERT_EQ(norms.size(), kCounts.size());
  const float* next = values.data<float>();
  for (size_t segment = 0; segment < kCounts.size(); ++segment) {
    long double sum = 0;
    for (int64_t i = 0; i < kCounts[segment]; ++i, ++next) sum += static_cast<long double>(*next) * *next;
    const auto expected = static_cast<double>(std::sqrt(sum));
    EXPECT_NEAR(norms[segment].weight, expected, 1e-14 * expected) << segment;
    EXPECT_EQ(norms[segment].direction, 2 * norms[segment].weight) << segment;
  }
}

TEST(SegmentNorms, HaveTheSameBitsOnAnyNumberOfThreads) {
  const Tensor values = random_values();
  const auto expected = measure(1, values, kCounts);
  for (const int threads : {2, 3, 4}) {
    const auto norms = measure(threads, values, kCounts);
    for (size_t s = 0; s < norms.size(); ++s) EXPECT_EQ(norms[s].weight, expected[s].weight) << threads;
  }
}

TEST(SegmentNorms, DoNotDependOnWhatLiesBefore) {
  const Tensor values = random_values();
  const double alone = measure(2, values.narrow(0, 12, 100003), {100003})[0].weight;
  EXPECT_EQ(measure(2, values, {12, 100003})[1].weight, alone);
}

TEST(SegmentNorms, CoverEveryElementOnceInBlocksFromTheStart) {
  std::vector<std::vector<int>> seen;
  for (const int64_t count : kCounts) seen.emplace_back(static_cast<size_t>(count));
  std::mutex mutex;
  SegmentNorms segments(kCounts);
  segments.measure([&](const SegmentNorms::Block& block) -> TrustSums {
    const std::scoped_lock lock(mutex);
    EXPECT_EQ(block.begin % kNormBlock, 0);
    EXPECT_LE(block.count, kNormBlock);
    for (int64_t i = 0; i < block.count; ++i) ++seen[block.segment][static_cast<size_t>(block.begin + i)];
    return {};
  });
  for (const auto& segment : seen) EXPECT_EQ(segment, std::vector<int>(segment.size(), 1));
}

TEST(SegmentNorms, SquaresOfTheGreatestAndSmallestNumbersAreExact) {
  std::vector<float> values(11, 0x1p100F);
  EXPECT_EQ(sum_of_squares(values.data(), 11), 11 * 0x1p200);
  values.assign(11, 0x1p-100F);
  EXPECT_EQ(sum_of_squares(values.data(), 11), 11 * 0x1p-200);
  EXPECT_EQ(sum_of_squares(values.data(), 0), 0);
}

}  // namespace
}  // namespace lockstep::optim
