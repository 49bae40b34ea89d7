// What a rank asked for, as it appears in messages and as the communicators carry it out.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "comm/buffer.h"
#include "comm/codecs/codec.h"

namespace lockstep::comm {

enum class ReduceOp : uint8_t { kSum, kMax, kMin };
const char* name_of(ReduceOp op);

enum class Collective : uint8_t { kAllReduce, kTreeSum, kReduceScatter, kAllGather, kBroadcast, kBarrier };
const char* name_of(Collective kind);  ///< "all_reduce", ...

struct CollectiveOptions {
  /// For messages, e.g. "bucket 3 (conv1.weight .. fc.bias)".
  std::string label{};
  /// The longest that one wait() may last; 0: the communicator's default.
  std::chrono::milliseconds timeout{0};
  /// For sums of f32: how operands and partial sums are rounded, and what travels. The caller's operands are
  /// rounded already (comm/codecs/rounding.h); so is the result. Ranks must agree on it.
  Codec codec = Codec::kNone;
};

/// A collective whose arguments were checked. Ranks must agree on all but the addresses, label and timeout.
struct Call {
  Collective kind = Collective::kBarrier;
  ReduceOp op = ReduceOp::kSum;
  DType dtype = DType::kU8;
  int root = 0;
  int leaves = 1;         ///< of the tree, for tree_sum
  int64_t count = 0;      ///< elements of one operand
  bool shared = false;    ///< all its buffers lie in memory that the ranks of a node share
  uint64_t sequence = 0;  ///< counts the collectives of a communicator from 1
  int64_t step = 0;       ///< the training step, for messages
  std::vector<Buffer> operands{};
  Buffer result{};
  CollectiveOptions options{};
};

/// "all_reduce #17 (sum of 4096 f32, bucket 3 (conv1.weight .. fc.bias)) at step 12"
std::string describe(const Call& call);

}  // namespace lockstep::comm
