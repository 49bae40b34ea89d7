// Element types. f16 and bf16 are storage types: arithmetic converts to f32 first.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <ostream>

namespace lockstep {

enum class DType : uint8_t { kF32, kF16, kBF16, kF64, kI64, kI32, kU8 };

size_t size_of(DType dtype);
const char* name_of(DType dtype);  ///< "f32", "f16", ...
inline std::ostream& operator<<(std::ostream& out, DType dtype) {
  return out << name_of(dtype);
}

// Conversions are inline and without branches, so that loops over them become vector code. NaN becomes quiet
// and keeps the upper bits of its payload.

/// IEEE binary16. Conversion from float rounds to nearest even; subnormals are kept whatever the FTZ/DAZ
/// state.
struct Half {
  uint16_t bits = 0;
  Half() = default;
  explicit Half(float value);
  explicit operator float() const;
  static Half from_bits(uint16_t bits) {
    Half half;
    half.bits = bits;
    return half;
  }
};

/// The upper 16 bits of a float, rounded to nearest even.
struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value);
  explicit operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
};

inline constexpr uint32_t kFloatInfinityBits = 0x7f800000;
inline constexpr uint32_t kFloatQuietBit = 0x00400000;

inline Half::Half(float value) {
  constexpr uint32_t kOverflow = 0x477ff000;        // 65520: halfway between the largest half and 65536
  constexpr uint32_t kSmallestNormal = 0x38800000;  // 2^-14
  constexpr uint32_t kBias = (127 - 15) << 10;
  const auto float_bits = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = float_bits & 0x7fffffff;
  const uint32_t normal = ((magnitude + 0xfff + (magnitude >> 13 & 1)) >> 13) - kBias;
  // Beside 0.5 the sum has the spacing of binary16's subnormals, 2^-24, and rounds to it.
  const uint32_t subnormal =
      std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - std::bit_cast<uint32_t>(0.5F);
  const uint32_t finite = magnitude < kSmallestNormal ? subnormal : normal;
  const uint32_t large = magnitude > kFloatInfinityBits ? 0x7e00 | (magnitude >> 13 & 0x3ff) : 0x7c00;
  bits = static_cast<uint16_t>((float_bits >> 16 & 0x8000) | (magnitude >= kOverflow ? large : finite));
}

inline Half::operator float() const {
  constexpr uint32_t kBias = (127 - 15) << 23;
  const uint32_t half = bits;
  const uint32_t shifted = (half & 0x7fff) << 13;
  const uint32_t exponent = half & 0x7c00;
  // An implicit bit that a subnormal does not have, added and taken away; exact, and normal as a float.
  const auto subnormal =
      std::bit_cast<uint32_t>(std::bit_cast<float>(shifted + kBias + (1U << 23)) - 0x1p-14F);
  const uint32_t finite = exponent == 0 ? subnormal : shifted + kBias;
  const uint32_t quiet = (half & 0x3ff) != 0 ? kFloatQuietBit : 0;
  const uint32_t magnitude = exponent == 0x7c00 ? kFloatInfinityBits | shifted | quiet : finite;
  return std::bit_cast<float>((half & 0x8000) << 16 | magnitude);
}

inline BFloat16::BFloat16(float value) {
  const auto float_bits = std::bit_cast<uint32_t>(value);
  const bool nan = (float_bits & 0x7fffffff) > kFloatInfinityBits;
  const uint32_t rounded = float_bits + 0x7fff + (float_bits >> 16 & 1);
  bits = static_cast<uint16_t>((nan ? float_bits | kFloatQuietBit : rounded) >> 16);
}

template <class T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::kF32;
};
template <>
struct DTypeOf<Half> {
  static constexpr DType value = DType::kF16;
};
template <>
struct DTypeOf<BFloat16> {
  static constexpr DType value = DType::kBF16;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::kF64;
};
template <>
struct DTypeOf<int64_t> {
  static constexpr DType value = DType::kI64;
};
template <>
struct DTypeOf<int32_t> {
  static constexpr DType value = DType::kI32;
};
template <>
struct DTypeOf<uint8_t> {
  static constexpr DType value = DType::kU8;
};

/// Calls function(T{}) with the C++ type of `dtype`.
template <class Function>
decltype(auto) visit_dtype(DType dtype, Function&& function) {
  switch (dtype) {
    case DType::kF32:
      return function(float{});
    case DType::kF16:
      return function(Half{});
    case DType::kBF16:
      return function(BFloat16{});
    case DType::kF64:
      return function(double{});
    case DType::kI64:
      return function(int64_t{});
    case DType::kI32:
      return function(int32_t{});
    case DType::kU8:
      break;
  }
  return function(uint8_t{});
}

}  // namespace lockstep
