// What each operation does with bf16 operands: the one table that decides it. f32 operands are computed in
// f32 everywhere, and an operation follows the element type of its first operand, so a model whose input is
// bf16 runs in bf16. Parameters (weights, biases, scales) stay f32 throughout, and so do their gradients; a
// product rounds the weights that it reads.
#pragma once

#include <span>
#include <string_view>

namespace lockstep::ops {

enum class Bf16Rule {
  kProducts,   ///< products of bf16 numbers, added up in f32; the result is rounded once
  kF32Inside,  ///< operands are widened, the formula is computed in f32, the result is rounded once
  kCastUp,     ///< the operand is cast to f32, and the result is f32; the gradient comes back as bf16
  kAnyType,    ///< elements are moved, compared, converted or indices, whatever their type
  kF32Table,   ///< the operand is a parameter, f32; the result is of the type that the caller asks for
  kRefused,    ///< f32 only
};

struct PrecisionRow {
  std::string_view operation;  ///< as errors name it and as it is called
  Bf16Rule bf16;
};

/// One row for each operation, in alphabetical order.
std::span<const PrecisionRow> precision_rows();

/// kRefused for what is no operation of the table.
Bf16Rule bf16_rule(std::string_view operation);

/// For people: "products in bf16, sums in f32".
const char* text_of(Bf16Rule rule);

}  // namespace lockstep::ops
