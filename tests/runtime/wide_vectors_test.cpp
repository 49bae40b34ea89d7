#include "runtime/wide_vectors.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <vector>

namespace lockstep {
namespace {

/// Numbers of all sizes, among them zeros of both signs, infinities and NaN.
std::vector<float> numbers(size_t count) {
  std::vector<float> values(count);
  uint32_t bits = 1;
  for (float& value : values) {
    bits = bits * 1664525 + 1013904223;
    value = std::bit_cast<float>(bits);
  }
  const std::array<float, 5> special = {0.0F, -0.0F, HUGE_VALF, -HUGE_VALF, NAN};
  for (size_t i = 0; i < special.size(); ++i) values[i * 17] = special[i];
  return values;
}

/// A function with a product and a sum that could be contracted.
struct Formula {
  float factor = 0;
  float value(float x, float y) const { return (x * factor + y) / (y - factor); }
};

template <class T>
double ordered_sum(const T& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

std::vector<uint32_t> bits_of(const std::vector<float>& values) {
  std::vector<uint32_t> bits;
  // Which of two NaN goes on is up to the order of an instruction's operands.
  for (const float value : values) bits.push_back(std::isnan(value) ? 0 : std::bit_cast<uint32_t>(value));
  return bits;
}

TEST(WideVectors, BothVersionsGiveTheSameBits) {
  constexpr int64_t kCount = 4099;
  const std::vector<float> x = numbers(kCount);
  const std::vector<float> y(x.rbegin(), x.rend());
  std::vector<float> narrow(kCount);
  std::vector<float> wide(kCount);
  const auto loop = [&](float* result) {
    const Formula formula{0.3F};
    for (size_t i = 0; i < kCount; ++i) result[i] = formula.value(x[i], y[i]);
  };
  loop(narrow.data());
  with_wide_vectors(loop, wide.data());
  EXPECT_EQ(bits_of(narrow), bits_of(wide));
}

TEST(WideVectors, SumsKeepTheirOrder) {
  std::vector<float> values(1000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = 1.0F / static_cast<float>(i + 1);
  float narrow = 0;
  float wide = 0;
  const auto add = [&](float* sum) {
    for (const float value : values) *sum += value;
  };
  add(&narrow);
  with_wide_vectors(add, &wide);
  EXPECT_EQ(narrow, wide);
  EXPECT_NE(narrow, static_cast<float>(ordered_sum(values)));  // else the order would not show
}

TEST(WideVectors, ParallelForCoversEveryElementOnce) {
  std::vector<int> visits(1001);
  parallel_for_wide(static_cast<int64_t>(visits.size()), 10, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) ++visits[static_cast<size_t>(i)];
  });
  EXPECT_EQ(visits, std::vector<int>(visits.size(), 1));
}

}  // namespace
}  // namespace lockstep
