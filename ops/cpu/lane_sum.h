// Sums that the compiler turns into vector code. Only *_cpu.cpp files include this header.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lockstep::ops::cpu {

/// term(0) + .. + term(count - 1), in an order that depends on count alone: number i is added to lane i mod
/// 8, which the compiler keeps in vector registers, and the lanes in pairs.
template <class Term>
double lane_sum(int64_t count, const Term& term) {
  constexpr int64_t kLanes = 8;
  std::array<double, kLanes> lanes{};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) lanes[static_cast<size_t>(lane)] += term(i + lane);
  }
  for (; i < count; ++i) lanes[static_cast<size_t>(i % kLanes)] += term(i);
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

}  // namespace lockstep::ops::cpu
