// One description of an operation on some inputs, used to check its values, to check its gradients, and to
// time it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/support/reference.h"

namespace lockstep::test {

struct OpCase {
  std::string name;
  std::vector<Array> inputs;  ///< the differentiable ones; others are captured by `run` and `reference`
  std::function<Tensor(const std::vector<Tensor>&)> run;      ///< the operation, on f32 tensors
  std::function<Array(const std::vector<Array>&)> reference;  ///< the same in double precision
  /// Allowed |got - expected| / max(1, |expected|).
  double value_tolerance = 1e-5;
  double gradient_tolerance = 1e-4;
};

/// Compares `run` with `reference`, on contiguous inputs and on strided ones; NaN and infinities must agree
/// too.
void check_values(const OpCase& op);

/// Compares the f32 gradients of sum(w * run(inputs)), w fixed random weights, with central differences of
/// the double reference, on contiguous inputs and on strided ones. Inputs must keep 1e-4 away from kinks.
void check_gradients(const OpCase& op);

/// Both of the above.
void check_op(const OpCase& op);

/// Largest |got - expected| / max(1, |expected|) of both checks above; infinite where they disagree on a
/// shape or on what is not finite.
struct OpErrors {
  double value = 0;
  bool differentiable = false;
  double gradient = 0;  ///< 0 unless differentiable
};
OpErrors measure_errors(const OpCase& op);

/// Same shape, and every value within the tolerance (relative to max(1, |expected|)).
void expect_near(const Array& got, const Array& expected, double tolerance, const std::string& what);

}  // namespace lockstep::test
