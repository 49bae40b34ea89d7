// IEEE binary16 with an exponent for every block, so that neither large nor small gradients leave its range.
//
// A block is scaled by the power of two that brings its largest finite magnitude M into the uppermost binade
// of binary16, [2^15, 2^16), and rounded to nearest even. For an element x:
//
//     |rounded(x) - x| <= max(2^-11 |x|, 2^-40 M, 2^-126)
//
// M is taken after it was rounded itself: a carry into the next binade gives the exponent that the rounded
// block has, too. Magnitudes from 2^128 - 2^116 on round to infinity and do not count as finite. 2^-126 is
// the smallest normal f32: no rounded element is subnormal, whether or not threads flush them.
//
// On the wire: the exponent of M (int16, at least -86), then 1,024 halves, both in the processor's order of
// bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep::comm::fp16 {

inline constexpr int64_t kBlockCount = 1024;
inline constexpr size_t kBlockBytes = sizeof(int16_t) + kBlockCount * sizeof(uint16_t);

/// See CodecRow.
void encode(const float* values, int64_t count, std::byte* wire);
void decode(const std::byte* wire, int64_t count, float* values);
void round(float* values, int64_t count);

}  // namespace lockstep::comm::fp16
