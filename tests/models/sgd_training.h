// A model and an optimizer without the trainer, for tests that follow PyTorch's training step by step.
#pragma once

#include <memory>
#include <vector>

#include "models/module.h"
#include "optim/parameter_rules.h"
#include "optim/sgd.h"

namespace lockstep::test {

/// SGD with momentum 0.9 and weight decay 0.01 on the leaves' gradients, each bound to memory of its own.
inline std::unique_ptr<optim::Sgd> bind_optimizer(models::Module& model) {
  std::vector<optim::OptimizedParameter> optimized;
  for (Parameter* parameter : parameters(model)) {
    const Tensor gradient = Tensor::zeros(parameter->value.shape());
    parameter->value.leaf_gradient().bind(gradient);
    optimized.push_back({.name = parameter->name, .value = parameter->value, .gradient = gradient});
  }
  optim::apply_rules(optimized, 0.01);
  return std::make_unique<optim::Sgd>(optimized, optim::OptimizerOptions{.momentum = 0.9});
}

inline void clear_gradients(models::Module& model) {
  for (Parameter* parameter : parameters(model)) parameter->value.leaf_gradient().clear();
}

/// tensor[index], without the first dimension.
inline Tensor row(const Tensor& tensor, int64_t index) {
  Shape shape;
  for (int dim = 1; dim < tensor.ndim(); ++dim) shape.push_back(tensor.dim(dim));
  return tensor.narrow(0, index, 1).view(shape);
}

}  // namespace lockstep::test
