// What whoever sums with a codec does to operands and partial sums. Blocks are counted from the first element
// given.
#pragma once

#include <cstdint>

#include "comm/buffer.h"
#include "comm/codecs/codec.h"

namespace lockstep::comm {

/// Rounds f32 elements, as sums with a codec expect their operands to be; with kNone does nothing. Throws
/// InvalidArgument for another dtype.
void round(Codec codec, const Buffer& values);

/// target[i] = rounded(left[i] + right[i]), added in f32. `target` may be `left` or `right`; other overlaps
/// are not allowed.
void sum_rounded(const CodecRow& codec, int64_t count, const float* left, const float* right, float* target);

}  // namespace lockstep::comm
