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

/// The upper 16 bits of a float, rounded to nearest even; NaN stays NaN.
struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value);
  explicit operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
};

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
