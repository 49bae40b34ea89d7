// Reductions over one row, in an order that depends on its length alone. Only *_cpu.cpp files
// include this header.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace lockstep::ops::cpu {

inline constexpr int64_t kRowLanes = 16;  // which the compiler keeps in vector registers

/// The greatest element of a row that is not empty; any of them where one is NaN.
inline float greatest_of(const float* x, int64_t count) {
  std::array<float, kRowLanes> lanes;
  lanes.fill(x[0]);
  int64_t i = 0;
  for (; i + kRowLanes <= count; i += kRowLanes) {
    for (int64_t lane = 0; lane < kRowLanes; ++lane) {
      float& greatest = lanes[static_cast<size_t>(lane)];
      greatest = greatest > x[i + lane] ? greatest : x[i + lane];
    }
  }
  float result = *std::max_element(lanes.begin(), lanes.end());
  for (; i < count; ++i) result = std::max(result, x[i]);
  return result;
}

/// The sum of term(0), .., term(count - 1).
template <class Term>
double row_sum(int64_t count, const Term& term) {
  std::array<float, kRowLanes> lanes{};
  int64_t i = 0;
  for (; i + kRowLanes <= count; i += kRowLanes) {
    for (int64_t lane = 0; lane < kRowLanes; ++lane) lanes[static_cast<size_t>(lane)] += term(i + lane);
  }
  double sum = 0;
  for (const float lane : lanes) sum += static_cast<double>(lane);
  for (; i < count; ++i) sum += static_cast<double>(term(i));
  return sum;
}

}  // namespace lockstep::ops::cpu
