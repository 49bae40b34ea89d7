// What the table of operations says about one operation, measured.
#pragma once

#include <string>

#include "tests/ops/op_rows.h"

namespace lockstep::benchmarks {

struct Measurement {
  test::OpErrors errors;
  std::string element_types;  ///< of the operands that are not fixed: "f32", "f32 f64", "any"
  std::string timed_shapes;   ///< of the operands
  double forward_seconds = 0;
  double backward_seconds = 0;  ///< 0 unless differentiable
  bool is_view = false;  ///< the result shares its operand's memory: its time does not depend on the size
  double bytes = 0;      ///< operands read and result written, once each
};

/// Times are medians over repetitions that take `seconds` in all, and 5 of them at least.
Measurement measure(const test::OpRow& row, double seconds);

}  // namespace lockstep::benchmarks
