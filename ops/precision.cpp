#include "ops/precision.h"

#include <algorithm>

namespace lockstep::ops {
namespace {

using enum Bf16Rule;

// Norms, reductions and everything element-wise are bound by memory: half the bytes are what they gain, and
// f32 inside costs nothing. Losses and choices by rank keep f32: they are small, and near the end of a
// training the differences that count are below the resolution of bf16.
constexpr PrecisionRow kRows[] = {
    {"abs", kF32Inside},
    {"adaptive_avg_pool2d", kF32Inside},
    {"add", kF32Inside},
    {"add_scalar", kF32Inside},
    {"argmax", kCastUp},
    {"attention", kF32Inside},
    {"avg_pool2d", kF32Inside},
    {"batch_norm", kF32Inside},
    {"batch_norm_inference", kF32Inside},
    {"bce_with_logits", kCastUp},
    {"cast", kAnyType},
    {"clamp", kF32Inside},
    {"concat", kAnyType},
    {"contiguous", kAnyType},
    {"conv2d", kProducts},
    {"conv_transpose2d", kProducts},
    {"count_correct", kCastUp},
    {"count_in_top_k", kCastUp},
    {"cross_entropy", kCastUp},
    {"div", kF32Inside},
    {"dropout", kF32Inside},
    {"embedding", kF32Table},
    {"eq", kAnyType},
    {"exp", kF32Inside},
    {"gather", kAnyType},
    {"ge", kAnyType},
    {"gelu", kF32Inside},
    {"gelu_tanh", kF32Inside},
    {"group_norm", kF32Inside},
    {"gt", kAnyType},
    {"index_select", kAnyType},
    {"layer_norm", kF32Inside},
    {"le", kAnyType},
    {"linear", kProducts},
    {"log", kF32Inside},
    {"log_softmax", kF32Inside},
    {"lt", kAnyType},
    {"matmul", kProducts},
    {"max", kF32Inside},
    {"max_pool2d", kF32Inside},
    {"mean", kF32Inside},
    {"mse", kCastUp},
    {"mul", kF32Inside},
    {"ne", kAnyType},
    {"neg", kF32Inside},
    {"nll", kCastUp},
    {"one_hot", kAnyType},
    {"pad", kAnyType},
    {"permute", kAnyType},
    {"relu", kF32Inside},
    {"reshape", kAnyType},
    {"scale", kF32Inside},
    {"self_attention", kF32Inside},
    {"sigmoid", kF32Inside},
    {"silu", kF32Inside},
    {"slice", kAnyType},
    {"softmax", kF32Inside},
    {"sqrt", kF32Inside},
    {"square", kF32Inside},
    {"stack", kAnyType},
    {"sub", kF32Inside},
    {"sum", kF32Inside},
    {"tanh", kF32Inside},
    {"topk", kCastUp},
    {"where", kAnyType},
};

static_assert(std::ranges::is_sorted(kRows, {}, &PrecisionRow::operation));

}  // namespace

std::span<const PrecisionRow> precision_rows() {
  return kRows;
}

Bf16Rule bf16_rule(std::string_view operation) {
  const auto* row = std::ranges::lower_bound(kRows, operation, {}, &PrecisionRow::operation);
  return row != std::end(kRows) && row->operation == operation ? row->bf16 : kRefused;
}

const char* text_of(Bf16Rule rule) {
  switch (rule) {
    case kProducts:
      return "products in bf16, sums in f32";
    case kF32Inside:
      return "f32 inside";
    case kCastUp:
      return "cast to f32";
    case kAnyType:
      return "as any type";
    case kF32Table:
      return "f32 table, bf16 result";
    case kRefused:
      break;
  }
  return "f32 only";
}

}  // namespace lockstep::ops
