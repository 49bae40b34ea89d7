// Elementary functions of plain arithmetic, written once for every device: a loop that calls them becomes
// vector code, and an element's bits depend neither on its place in a vector nor on the C library. The
// polynomials are those of the Cephes library (S. Moshier, "Methods and programs for mathematical functions",
// 1989).
#pragma once

#include <cmath>

// The compiler of device code needs the markers that others do not know.
#if defined(__CUDACC__)
#define HOST_DEVICE __host__ __device__
#else
#define HOST_DEVICE
#endif

namespace lockstep::ops {

/// e^x within 2 units in the last place, from 0 over infinity to NaN: x = n ln 2 + r, with the polynomial for
/// e^r of Cephes' expf.
HOST_DEVICE inline float exponential(float x) {
  constexpr float kRound = 12582912.0F;  // 1.5 * 2^23: adding it leaves the nearest integer in the lower bits
  constexpr float kLog2E = 1.44269504F;
  constexpr float kLn2High = 0.693359375F;  // 9 bits, so that n times it is exact
  constexpr float kLn2Low = -2.12194440e-4F;
  const float above = x < -104 ? -104 : x;  // e^-104 rounds to 0, e^89 to infinity; NaN stays
  const float clamped = above > 89 ? 89 : above;
  const float shifted = clamped * kLog2E + kRound;
  const float n = shifted - kRound;
  const float r = clamped - n * kLn2High - n * kLn2Low;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  const float power = p * (r * r) + r + 1;
  // 2^n in two factors, since n may be one more than the greatest exponent or less than the smallest.
  const int exponent = __builtin_bit_cast(int, shifted) - __builtin_bit_cast(int, kRound);
  const int half = exponent >> 1;
  const auto factor = __builtin_bit_cast(float, (half + 127) << 23);
  const auto other_factor = __builtin_bit_cast(float, (exponent - half + 127) << 23);
  return power * factor * other_factor;
}

/// ln x within 1 unit in the last place; -infinity at 0, NaN below. x = 2^n m with m from sqrt(1/2) to
/// sqrt(2), and the polynomial for ln m of Cephes' logf. Subnormal numbers count, though they are flushed in
/// arithmetic.
HOST_DEVICE inline float logarithm(float x) {
  constexpr float kLn2High = 0.693359375F;  // 9 bits, so that n times it is exact
  constexpr float kLn2Low = -2.12194440e-4F;
  constexpr int kSqrtHalf = 0x3f3504f3;  // bits of the smallest m
  const int bits = __builtin_bit_cast(int, x);
  const bool subnormal = bits < 0x00800000;  // bits * 2^-149
  const int normal = subnormal ? __builtin_bit_cast(int, static_cast<float>(bits)) : bits;
  const int steps = normal - kSqrtHalf;
  const auto n = static_cast<float>((steps >> 23) - (subnormal ? 149 : 0));
  const float f = __builtin_bit_cast(float, (steps & 0x007fffff) + kSqrtHalf) - 1;
  float p = 7.0376836292e-2F;
  p = p * f - 1.1514610310e-1F;
  p = p * f + 1.1676998740e-1F;
  p = p * f - 1.2420140846e-1F;
  p = p * f + 1.4249322787e-1F;
  p = p * f - 1.6668057665e-1F;
  p = p * f + 2.0000714765e-1F;
  p = p * f - 2.4999993993e-1F;
  p = p * f + 3.3333331174e-1F;
  const float square = f * f;
  const float small = p * f * square + n * kLn2Low - 0.5F * square;
  const float finite = f + small + n * kLn2High;
  const float above = x < HUGE_VALF ? finite : x;
  const float edge = x == 0 ? -HUGE_VALF : NAN;
  return x > 0 ? above : edge;
}

/// tanh x within 2 units in the last place: near 0 the polynomial of Cephes' tanhf, elsewhere
/// 1 - 2 / (e^2|x| + 1), which would cancel there.
HOST_DEVICE inline float hyperbolic_tangent(float x) {
  constexpr float kNear = 0.625F;
  const float size = std::fabs(x);
  const float square = size * size;
  float p = -5.70498872745e-3F;
  p = p * square + 2.06390887954e-2F;
  p = p * square - 5.37397155531e-2F;
  p = p * square + 1.33314422036e-1F;
  p = p * square - 3.33332819422e-1F;
  const float near = p * square * size + size;
  const float far = 1 - 2 / (exponential(2 * size) + 1);
  return std::copysign(size < kNear ? near : far, x);
}

}  // namespace lockstep::ops
