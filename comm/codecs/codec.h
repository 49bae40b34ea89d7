// Lossy codecs: how the elements of a sum are rounded, and how they travel in half the bytes.
//
// Whoever sums with a codec rounds every operand and every partial sum, also those that never leave a rank.
// So what travels is exact, and the number of ranks changes no bit. Additions are made in f32.
//
// Values are encoded in blocks of a fixed number of elements, counted from the start of the buffer; only a
// whole block can be encoded. The last one may be partial: on the wire it is filled up with zeros.
//
// Rounding is idempotent, bit for bit: a rounded block is encoded exactly, and to the same bytes whenever it
// is encoded. Infinities keep their sign; a NaN stays a NaN of the same sign, quiet, with the upper bits of
// its payload; zeros keep their sign. What rounds beyond the largest f32 becomes an infinity.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep::comm {

enum class Codec : uint8_t { kNone, kFp16, kBf16 };

/// What a codec does. `values` and `wire` are consecutive blocks that do not overlap; `count` elements count
/// the last block as far as it goes, the wire has blocks_of(count) whole ones. The wire needs no alignment
/// beyond 2 bytes.
struct CodecRow {
  Codec codec;
  const char* name;     ///< as in descriptions of calls: "fp16"
  int64_t block_count;  ///< elements of a block
  size_t block_bytes;   ///< on the wire
  void (*encode)(const float* values, int64_t count, std::byte* wire);
  void (*decode)(const std::byte* wire, int64_t count, float* values);
  void (*round)(float* values, int64_t count);  ///< decode(encode(values)), in place

  int64_t blocks_of(int64_t count) const { return (count + block_count - 1) / block_count; }
};

}  // namespace lockstep::comm
