// What every optimizer shares: the parameters it updates, its flat state, and the walk over both.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/parameter.h"
#include "runtime/tensor.h"

namespace lockstep::optim {

/// One parameter as an optimizer sees it. Value and gradient are plain f32 CPU views of the same shape, which
/// stay where they are as long as the optimizer lives. It is fastest when consecutive parameters are adjacent
/// in memory.
struct OptimizedParameter {
  std::string name;
  Tensor value;
  Tensor gradient;          ///< summed over the samples of the step; never changed
  double lr_factor = 1;     ///< multiplies the learning rate
  double weight_decay = 0;  ///< this parameter's own, see apply_rules()
  bool trust = true;        ///< whether a trust ratio applies, in optimizers that have one
};

struct StepOptions {
  double lr = 0;
  /// Gradients are divided by this, the number of items they are summed over times the loss scale: g =
  /// gradient / d, where d is rounded to f32 once (counts up to 2^24 times any power of two are exact) and
  /// the quotient is rounded to f32.
  double gradient_divisor = 1;
};

/// Settings of all optimizers; each one's header says which of them it reads.
struct OptimizerOptions {
  double momentum = 0.9;
  bool nesterov = false;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double trust_coefficient = 0.001;
};

/// Updates parameters in place. An optimizer belongs to one thread, works on all of the team's threads, and
/// gives the same bits whatever their number.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// One update of every parameter; bumps the values' versions. Throws InvalidArgument unless lr is finite
  /// and the divisor, as f32, finite and positive.
  void step(const StepOptions& options);

  const std::vector<OptimizedParameter>& parameters() const { return parameters_; }
  /// What a checkpoint holds: views of the live memory, which a saved state is copied into, as
  /// "<parameter>.<buffer>", parameter by parameter; and in optimizers that count their steps the number of
  /// steps done, an i64 scalar named "step".
  std::vector<NamedTensor> state() const;

 protected:
  /// A part of one parameter that one thread updates.
  struct Piece {
    const OptimizedParameter& parameter;
    size_t index;        ///< of the parameter
    int64_t begin;       ///< first element within the parameter
    int64_t flat_begin;  ///< the same element's place in every buffer
    int64_t count;

    float* value() const { return parameter.value.data<float>() + begin; }
    const float* gradient() const { return parameter.gradient.data<float>() + begin; }
  };

  struct StateLayout {
    std::vector<std::string> buffers = {};  ///< one zeroed element per name and element of the parameters
    bool counts_steps = false;
  };
  Optimizer(std::vector<OptimizedParameter> parameters, StateLayout layout);

  float* buffer(size_t index) const { return buffers_[index].data<float>(); }
  /// Steps done, the current one included; only with counts_steps.
  int64_t steps() const { return *steps_.data<int64_t>(); }
  std::vector<int64_t> counts() const;  ///< elements of each parameter
  Piece piece(size_t parameter, int64_t begin, int64_t count) const;
  /// Covers all elements exactly once, on the team's threads; `update` must not throw.
  void for_each_piece(const std::function<void(const Piece&)>& update) const;

 private:
  virtual void update(const StepOptions& options) = 0;

  std::vector<OptimizedParameter> parameters_;
  std::vector<int64_t> offsets_;  // of each parameter in the flat order, and the total at the end
  StateLayout layout_;
  std::vector<Tensor> buffers_;  // flat, in the layout's order
  Tensor steps_;                 // undefined unless they are counted
};

}  // namespace lockstep::optim
