// Tensors and automatic differentiation alone: fits y = 3 a - 2 b + 1 by gradient descent, without trainer,
// files or ranks.
#include <lockstep/ops/linear/linear.h>
#include <lockstep/ops/losses/losses.h>
#include <lockstep/runtime/autograd.h>
#include <lockstep/runtime/rng.h>

#include <cstdio>

namespace ls = lockstep;

namespace {

constexpr int64_t kSamples = 256;

void descend(ls::Tensor& weight, const ls::Tensor& gradient, float lr) {
  for (int64_t i = 0; i < weight.count(); ++i) weight.data<float>()[i] -= lr * gradient.data<float>()[i];
  weight.bump_version();  // tells the graph that the memory was changed in place
}

}  // namespace

int main() {
  const ls::Tensor inputs = ls::Tensor::empty({kSamples, 2});
  const ls::Tensor targets = ls::Tensor::empty({kSamples, 1});
  const ls::RandomStream random(/*seed=*/1, ls::Purpose::kSynthetic, 0, 0);
  for (int64_t i = 0; i < kSamples; ++i) {
    const float a = random.uniform(static_cast<uint64_t>(2 * i));
    const float b = random.uniform(static_cast<uint64_t>(2 * i + 1));
    inputs.data<float>()[2 * i] = a;
    inputs.data<float>()[2 * i + 1] = b;
    targets.data<float>()[i] = 3 * a - 2 * b + 1;
  }

  ls::Tensor weight = ls::Tensor::zeros({1, 2});
  ls::Tensor bias = ls::Tensor::zeros({1});
  weight.set_requires_grad(true);
  bias.set_requires_grad(true);
  for (int step = 1; step <= 500; ++step) {
    const ls::ops::LossResult loss = ls::ops::mse(ls::ops::linear(inputs, weight, bias), targets);
    weight.leaf_gradient().clear();
    bias.leaf_gradient().clear();
    ls::backward(loss.sum);
    if (step % 100 == 0) std::printf("step %d: loss %.9f\n", step, loss.sum_value / loss.weight);
    descend(weight, weight.grad(), 0.5F / kSamples);
    descend(bias, bias.grad(), 0.5F / kSamples);
  }
  std::printf("y = %.4f a + %.4f b + %.4f\n", static_cast<double>(weight.data<float>()[0]),
              static_cast<double>(weight.data<float>()[1]), static_cast<double>(bias.data<float>()[0]));
  return 0;
}
