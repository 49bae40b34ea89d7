#include <gtest/gtest.h>
#include <omp.h>
#include <pmmintrin.h>

#include <array>
#include <bit>
#include <limits>

#include "runtime/threads.h"

namespace lockstep {
namespace {

constexpr unsigned kFlushing = _MM_FLUSH_ZERO_ON | _MM_DENORMALS_ZERO_ON;

class FloatingPointControl : public testing::Test {
 protected:
  ~FloatingPointControl() override { _mm_setcsr(saved_); }

 private:
  unsigned saved_ = _mm_getcsr();
};

TEST_F(FloatingPointControl, SubnormalResultsAndOperandsAreZero) {
  _mm_setcsr(_MM_MASK_MASK);
  volatile float smallest_normal = std::numeric_limits<float>::min();
  volatile float subnormal = std::numeric_limits<float>::denorm_min();
  volatile float large = 0x1p100F;
  const float kept = smallest_normal * 0.5F;
  EXPECT_NE(std::bit_cast<uint32_t>(kept), 0U);

  set_floating_point_control();
  const float result = smallest_normal * 0.5F;
  const float from_operand = subnormal * large;
  EXPECT_EQ(std::bit_cast<uint32_t>(result), 0U);
  EXPECT_EQ(std::bit_cast<uint32_t>(from_operand), 0U);
}

TEST_F(FloatingPointControl, NothingOfAnEarlierStateRemains) {
  set_floating_point_control();
  const unsigned expected = _mm_getcsr();
  _mm_setcsr(_MM_MASK_MASK | _MM_ROUND_UP | _MM_EXCEPT_INEXACT);
  set_floating_point_control();
  EXPECT_EQ(_mm_getcsr(), expected);
  EXPECT_EQ(expected & _MM_ROUND_MASK, unsigned{_MM_ROUND_NEAREST});
}

// A new thread inherits its creator's word, and a member of the team keeps the one that it was started with.
TEST_F(FloatingPointControl, IsSetOnEveryComputeThreadWhateverItsCreatorHad) {
  constexpr int kThreads = 3;
  _mm_setcsr(_MM_MASK_MASK);
  unsigned started = 0;
  start_thread("progress", [&] { started = _mm_getcsr(); }).join();
  EXPECT_EQ(started & kFlushing, kFlushing);

  std::array<unsigned, kThreads> team{};
  omp_set_num_threads(kThreads);
#pragma omp parallel
  _mm_setcsr(_MM_MASK_MASK);
  configure_compute_threads(kThreads);
#pragma omp parallel
  team[static_cast<size_t>(omp_get_thread_num())] = _mm_getcsr();
  for (const unsigned member : team) EXPECT_EQ(member & kFlushing, kFlushing);
}

}  // namespace
}  // namespace lockstep
