// Sixteen floats side by side, for passes over memory whose inner loop the compiler does not turn into vector
// code by itself. Plain arithmetic on the compiler's vector types: the same bits on every processor. Only
// *_cpu.cpp files include this header.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

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

using Pairs = uint32_t __attribute__((vector_size(32)));

/// As BFloat16(float) rounds, in the upper half of every word.
inline Pairs rounded(Floats::Half values) {
  using Signed = int32_t __attribute__((vector_size(32)));
  const auto bits = std::bit_cast<Pairs>(values);
  const auto magnitude = std::bit_cast<Signed>(bits & 0x7fffffff);
  const Pairs nearest = bits + 0x7fff + (bits >> 16 & 1);
  return (magnitude > static_cast<int32_t>(kFloatInfinityBits) ? bits | kFloatQuietBit : nearest) &
         0xffff0000;
}

}  // namespace bf16

// Sixteen bf16 are eight words of two: widened, those in the lower halves come first, then those in the upper
// halves, which takes a shift and a mask where the order of memory would take permutations. So numbers that
// meet such elements must be in that order: arranged<BFloat16>().

inline Floats load(const BFloat16* x) {
  bf16::Pairs pairs;
  std::memcpy(&pairs, x, sizeof(pairs));
  return {std::bit_cast<Floats::Half>(pairs << 16), std::bit_cast<Floats::Half>(pairs & 0xffff0000)};
}
inline void store(BFloat16* x, Floats values) {
  const bf16::Pairs pairs = bf16::rounded(values.low) >> 16 | bf16::rounded(values.high);
  std::memcpy(static_cast<void*>(x), &pairs, sizeof(pairs));
}

/// Floats in the order of memory, in the order in which load() gives elements of type T.
template <class T>
Floats arranged(Floats x) {
  if constexpr (std::is_same_v<T, float>) return x;
  return {__builtin_shufflevector(x.low, x.high, 0, 2, 4, 6, 8, 10, 12, 14),
          __builtin_shufflevector(x.low, x.high, 1, 3, 5, 7, 9, 11, 13, 15)};
}
/// The inverse of arranged<T>().
template <class T>
Floats in_memory_order(Floats x) {
  if constexpr (std::is_same_v<T, float>) return x;
  return {__builtin_shufflevector(x.low, x.high, 0, 8, 1, 9, 2, 10, 3, 11),
          __builtin_shufflevector(x.low, x.high, 4, 12, 5, 13, 6, 14, 7, 15)};
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
/// `values`, arranged as those of T, with 0 behind the first `count` in memory.
template <class T>
Floats first(Floats values, int count) {
  if (count == Floats::kCount) return values;
  float elements[Floats::kCount];
  store(elements, in_memory_order<T>(values));
  return arranged<T>(load(elements, count));
}

}  // namespace lockstep::ops::cpu
