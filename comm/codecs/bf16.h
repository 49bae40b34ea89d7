// The upper half of an f32, rounded to nearest even: 8 significant bits and the range of f32, so it needs no
// exponent beside it. For a normal x: |rounded(x) - x| <= 2^-8 |x|. Magnitudes from 2^128 - 2^119 on round to
// infinity; subnormals are rounded like all others, whether or not threads flush them.
//
// On the wire: 1,024 bf16 a block, in the processor's order of bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep::comm::bf16 {

inline constexpr int64_t kBlockCount = 1024;
inline constexpr size_t kBlockBytes = kBlockCount * sizeof(uint16_t);

/// See CodecRow.
void encode(const float* values, int64_t count, std::byte* wire);
void decode(const std::byte* wire, int64_t count, float* values);
void round(float* values, int64_t count);

}  // namespace lockstep::comm::bf16
