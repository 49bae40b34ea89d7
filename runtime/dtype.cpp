#include "runtime/dtype.h"

namespace lockstep {

namespace {

constexpr uint32_t kFloatInfinity = 0x7f800000;
constexpr uint32_t kFloatQuietNan = 0x00400000;

/// `value` / 2^shift, rounded to the nearest integer, ties to even.
uint32_t shift_and_round(uint32_t value, int shift) {
  const uint32_t half = uint32_t{1} << (shift - 1);
  const uint32_t odd = (value >> shift) & 1;
  return (value + half - 1 + odd) >> shift;
}

// Integer arithmetic alone, so that the FTZ/DAZ state does not touch the subnormals of binary16. NaN becomes
// quiet and keeps its upper payload, as the F16C instructions do.
uint16_t half_bits(float value) {
  constexpr uint32_t kOverflow =
      0x477ff000;  // 65520: halfway between the largest half and the next power of two
  constexpr uint32_t kSmallestNormal = 0x38800000;  // 2^-14
  constexpr uint32_t kUnderflow = 0x33000000;       // 2^-25: half of the smallest subnormal, a tie with zero
  constexpr int kMantissaShift = 23 - 10;
  constexpr uint32_t kExponentShift = (127 - 15) << 10;

  const auto bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffff;
  uint32_t result = 0;
  if (magnitude > kFloatInfinity) {
    result = 0x7e00 | (magnitude >> kMantissaShift & 0x3ff);
  } else if (magnitude >= kOverflow) {
    result = 0x7c00;
  } else if (magnitude >= kSmallestNormal) {
    result = shift_and_round(magnitude, kMantissaShift) - kExponentShift;
  } else if (magnitude > kUnderflow) {
    const int exponent = static_cast<int>(magnitude >> 23);
    const uint32_t mantissa = (magnitude & 0x7fffff) | 0x800000;
    result = shift_and_round(mantissa, kMantissaShift + 127 - 14 - exponent);
  }
  return static_cast<uint16_t>(sign | result);
}

float float_of_half(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t exponent = bits >> 10 & 0x1f;
  const uint32_t mantissa = bits & 0x3ff;
  uint32_t magnitude = 0;
  if (exponent == 0x1f) {
    magnitude = kFloatInfinity | mantissa << 13 | (mantissa != 0 ? kFloatQuietNan : 0);
  } else if (exponent != 0) {
    magnitude = (exponent + 127 - 15) << 23 | mantissa << 13;
  } else if (mantissa != 0) {
    // mantissa * 2^-24: its leading one becomes the implicit bit.
    const int leading = 31 - std::countl_zero(mantissa);
    magnitude = static_cast<uint32_t>(127 - 24 + leading) << 23 | (mantissa << (23 - leading) & 0x7fffff);
  }
  return std::bit_cast<float>(sign | magnitude);
}

uint16_t bfloat_bits(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const bool nan = (bits & 0x7fffffff) > kFloatInfinity;
  return static_cast<uint16_t>(nan ? (bits | kFloatQuietNan) >> 16
                                   : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

}  // namespace

size_t size_of(DType dtype) {
  return visit_dtype(dtype, [](auto element) { return sizeof(element); });
}

const char* name_of(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "f32";
    case DType::kF16:
      return "f16";
    case DType::kBF16:
      return "bf16";
    case DType::kF64:
      return "f64";
    case DType::kI64:
      return "i64";
    case DType::kI32:
      return "i32";
    case DType::kU8:
      break;
  }
  return "u8";
}

Half::Half(float value) : bits(half_bits(value)) {}

Half::operator float() const {
  return float_of_half(bits);
}

BFloat16::BFloat16(float value) : bits(bfloat_bits(value)) {}

}  // namespace lockstep
