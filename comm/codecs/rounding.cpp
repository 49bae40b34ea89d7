#include "comm/codecs/rounding.h"

#include <algorithm>

#include "comm/codecs/table.h"
#include "comm/reduce_kernels.h"
#include "runtime/error.h"

namespace lockstep::comm {

void round(Codec codec, const Buffer& values) {
  const CodecRow* row = find_codec(codec);
  if (!row) return;
  check(values.dtype == DType::kF32, "round", "codec ", row->name, ": expected f32, got ", values.dtype);
  row->round(static_cast<float*>(values.data), values.count);
}

void sum_rounded(const CodecRow& codec, int64_t count, const float* left, const float* right, float* target) {
  for (int64_t begin = 0; begin < count; begin += codec.block_count) {
    const int64_t length = std::min(codec.block_count, count - begin);
    reduce(ReduceOp::kSum, DType::kF32, length, left + begin, right + begin, target + begin);
    codec.round(target + begin, length);  // while the block is in the first-level cache
  }
}

}  // namespace lockstep::comm
