// The smallest differentiable operations that make a graph.
#pragma once

#include <vector>

#include "runtime/autograd.h"

namespace lockstep {

inline Tensor leaf(const std::vector<float>& values) {
  Tensor tensor = Tensor::from(values, {static_cast<int64_t>(values.size())});
  tensor.set_requires_grad(true);
  return tensor;
}

inline Tensor multiplied(const Tensor& a, const Tensor& b) {
  Tensor product = Tensor::empty(a.shape());
  for (int64_t i = 0; i < a.count(); ++i) product.data<float>()[i] = a.data<float>()[i] * b.data<float>()[i];
  return product;
}

inline Tensor multiply(const Tensor& a, const Tensor& b) {
  return record("multiply", multiplied(a, b), {a, b},
                [a = SavedTensor(a, "multiply"), b = SavedTensor(b, "multiply")](BackwardContext& context) {
                  if (context.needs(0)) context.add(0, multiplied(context.grad(), b.get()));
                  if (context.needs(1)) context.add(1, multiplied(context.grad(), a.get()));
                });
}

inline Tensor add(const Tensor& a, const Tensor& b) {
  Tensor sum = a.clone();
  sum.add_in_place(b);
  return record("add", sum, {a, b}, [](BackwardContext& context) {
    for (int input = 0; input < 2; ++input) {
      if (context.needs(input)) context.add(input, context.grad());
    }
  });
}

/// factor * a; its gradient is written straight to where it belongs.
inline Tensor scale(const Tensor& a, float factor) {
  return record("scale", multiplied(a, Tensor::full(a.shape(), factor)), {a},
                [factor](BackwardContext& context) {
                  Tensor gradient = context.destination(0);
                  gradient.copy_from(multiplied(context.grad(), Tensor::full(gradient.shape(), factor)));
                  context.add(0, gradient);
                });
}

}  // namespace lockstep
