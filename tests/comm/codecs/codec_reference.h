// Rounding by its definition, one element at a time in double, and values that make it hard.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/codecs/codec.h"

namespace lockstep::comm::test {

/// The codec's rounding of a buffer.
std::vector<float> reference_rounded(Codec codec, const std::vector<float>& values);

/// The exponent of one block of fp16.
int reference_fp16_exponent(const float* values, int64_t count);

struct Pattern {
  std::string name;
  std::vector<float> values;
};

/// Random bits, numbers of one size and of many, zeros, subnormals, infinities, NaN, carries into the next
/// binade; whole blocks and partial ones.
std::vector<Pattern> codec_patterns();

/// "" if all bits agree, else the first difference.
std::string first_difference(const std::vector<float>& actual, const std::vector<float>& expected);

}  // namespace lockstep::comm::test
