// Sixteen floats side by side, for passes over memory whose inner loop the compiler does not turn into vector
// code by itself. Plain arithmetic on the compiler's vector types: the same bits on every processor. Only
// *_cpu.cpp files include this header.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "runtime/dtype.h"

namespace lockstep::ops::cpu {

struct Floats {
  static constexpr int kCount = 16;
  using Half = float __attribute__((vector_size(32)));
  Half low{};
  Half high{};

  explicit Floats(float value = 0) : low(Half{} + value), high(Half{} + value) {}
  Floats(Half low_half, Half high_half) : low(low_half), high(high_half) {}
  friend Floats operator+(Floats a, Floats b) { return {a.low + b.low, a.high + b.high}; }
  friend Floats operator-(Floats a, Floats b) { return {a.low - b.low, a.high - b.high}; }
  friend Floats operator*(Floats a, Floats b) { return {a.low * b.low, a.high * b.high}; }
};

/// max(x, 0), NaN kept.
inline Floats positive_part(Floats x) {
  const Floats::Half zero{};
  return {x.low < zero ? zero : x.low, x.high < zero ? zero : x.high};
}

/// `value` where `condition` is positive or NaN, 0 elsewhere.
inline Floats where_positive(Floats condition, Floats value) {
  const Floats::Half zero{};
  return {condition.low <= zero ? zero : value.low, condition.high <= zero ? zero : value.high};
}

inline Floats load(const float* x) {
  Floats result;
  std::memcpy(&result.low, x, sizeof(result.low));
  std::memcpy(&result.high, x + 8, sizeof(result.high));
  return result;
}
inline void store(float* x, Floats values) {
  std::memcpy(x, &values.low, sizeof(values.low));
  std::memcpy(x + 8, &values.high, sizeof(values.high));
}

namespace bf16 {

using Bits = uint16_t __attribute__((vector_size(16)));
using WideBits = uint32_t __attribute__((vector_size(32)));

inline Floats::Half widen(const BFloat16* x) {
  Bits bits;
  std::memcpy(&bits, x, sizeof(bits));
  return std::bit_cast<Floats::Half>(__builtin_convertvector(bits, WideBits) << 16);
}
/// As BFloat16(float) rounds.
inline void narrow(BFloat16* x, Floats::Half values) {
  const auto bits = std::bit_cast<WideBits>(values);
  const WideBits rounded = bits + 0x7fff + (bits >> 16 & 1);
  const WideBits result = (bits & 0x7fffffff) > kFloatInfinityBits ? bits | kFloatQuietBit : rounded;
  const Bits upper = __builtin_convertvector(result >> 16, Bits);
  std::memcpy(static_cast<void*>(x), &upper, sizeof(upper));
}

}  // namespace bf16

inline Floats load(const BFloat16* x) {
  return {bf16::widen(x), bf16::widen(x + 8)};
}
inline void store(BFloat16* x, Floats values) {
  bf16::narrow(x, values.low);
  bf16::narrow(x + 8, values.high);
}

/// The first `count` of the sixteen, which may be fewer than there is memory for; the others are 0.
template <class T>
Floats load(const T* x, int count) {
  if (count == Floats::kCount) return load(x);
  T elements[Floats::kCount]{};
  std::memcpy(static_cast<void*>(elements), x, static_cast<size_t>(count) * sizeof(T));
  return load(elements);
}
template <class T>
void store(T* x, Floats values, int count) {
  if (count == Floats::kCount) return store(x, values);
  T elements[Floats::kCount];
  store(elements, values);
  std::memcpy(static_cast<void*>(x), elements, static_cast<size_t>(count) * sizeof(T));
}
/// `values`, with 0 behind the first `count`.
inline Floats first(Floats values, int count) {
  if (count == Floats::kCount) return values;
  float elements[Floats::kCount];
  store(elements, values);
  return load(elements, count);
}

}  // namespace lockstep::ops::cpu
