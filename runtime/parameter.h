// What a model consists of: parameters, which gradients reach, and running statistics, which they do not; and
// the named tensors that are saved of it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/rng.h"
#include "runtime/tensor.h"

namespace lockstep {

/// How a parameter's first values are drawn.
struct Initializer {
  enum class Kind { kConstant, kUniform, kNormal };
  Kind kind = Kind::kConstant;
  double center = 0;  ///< the constant, or the mean
  double spread = 0;  ///< half the width of a uniform distribution, or the standard deviation

  static Initializer constant(double value) { return {Kind::kConstant, value, 0}; }
  static Initializer uniform(double bound) { return {Kind::kUniform, 0, bound}; }
  static Initializer normal(double deviation) { return {Kind::kNormal, 0, deviation}; }
};

struct Parameter {
  std::string name;  ///< full path in the model, e.g. "conv1.weight"
  Tensor value;      ///< f32 leaf that requires a gradient
  Initializer initializer;
};

/// Draws element i of a parameter from (seed, parameter's position in the model, i), on the OpenMP team.
void initialize(Parameter& parameter, uint64_t seed, uint64_t position);

/// A statistic that training tracks: after a step of M micro-batches with values v_1..v_M,
/// value <- (1-m)^M value + (1-(1-m)^M) mean(v), so that M micro-batches count as M updates of momentum m.
struct RunningStatistic {
  std::string name;
  Tensor value;  ///< f32, one dimension
  double momentum = 0.1;
  /// An i64 scalar that counts the observations (PyTorch's num_batches_tracked); undefined where nobody wants
  /// it.
  Tensor observations;
  /// Where observe() adds up the values of a step, in double; bound by the data-parallel layer, one per slot.
  std::span<double> sum;

  /// Takes one micro-batch's value (f32, plain). Without a bound sum it updates `value` at once.
  void observe(const Tensor& batch_value);
  /// Ends a step of `count` observations that add up to `total`.
  void commit(std::span<const double> total, int64_t count);
};

/// A tensor under the name that it has in a file.
struct NamedTensor {
  std::string name;
  Tensor value;
};

/// Copies each source into the target of its name, in place. Names, shapes and dtypes must match one to one:
/// otherwise nothing is copied and InvalidArgument names `operation` and the first name that is missing,
/// unexpected or different.
void copy_by_name(const char* operation, const std::vector<NamedTensor>& sources,
                  const std::vector<NamedTensor>& targets);

}  // namespace lockstep
