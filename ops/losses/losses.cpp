#include "ops/losses/losses.h"

#include <algorithm>

#include "ops/losses/losses_kernels.h"
#include "ops/operands.h"
#include "runtime/autograd.h"
#include "runtime/profile.h"

namespace lockstep::ops {
namespace {

void check_same_shape(const char* operation, const Tensor& a, const Tensor& b) {
  check_cpu(operation, a);
  check_cpu(operation, b);
  check(a.shape() == b.shape(), operation, "expected operands of one shape, got ", a.shape(), " and ",
        b.shape());
}

/// NaN is none.
void check_probabilities(const char* operation, const Tensor& targets) {
  const float* values = targets.data<float>();
  const int64_t count = targets.count();
  const auto is_outside = [](float value) { return !(value >= 0 && value <= 1); };
  const int64_t first = std::find_if(values, values + count, is_outside) - values;
  check(first == count, operation, "target ", first, " is ", first < count ? values[first] : 0,
        ": expected one in [0, 1]");
}

LossResult loss_result(double sum, int64_t items) {
  return {
      .sum = Tensor::scalar(static_cast<float>(sum)), .sum_value = sum, .weight = static_cast<double>(items)};
}

float upstream(const BackwardContext& context) {
  return static_cast<float>(context.grad().item());
}

}  // namespace

LossResult mse(const Tensor& given, const Tensor& given_target) {
  const profile::Span span("mse");
  const Tensor prediction = in_f32("mse", given);
  const Tensor target = in_f32("mse", given_target);
  check_same_shape("mse", prediction, target);
  const Tensor a = plain_contiguous(prediction);
  const Tensor b = plain_contiguous(target);
  LossResult result = loss_result(cpu::squared_error(a.data<float>(), b.data<float>(), a.count()), a.count());
  result.sum =
      record("mse", result.sum, {prediction, target},
             [saved_a = SavedTensor(a, "mse"), saved_b = SavedTensor(b, "mse")](BackwardContext& context) {
               const auto* from = saved_a.get().data<float>();
               const auto* to = saved_b.get().data<float>();
               for (const int input : {0, 1}) {
                 if (!context.needs(input)) continue;
                 const float factor = (input == 0 ? 2.0F : -2.0F) * upstream(context);
                 Tensor gradient = context.destination(input);
                 cpu::scaled_difference(from, to, factor, gradient.data<float>(), gradient.count());
                 context.add(input, gradient);
               }
             });
  return result;
}

LossResult bce_with_logits(const Tensor& given, const Tensor& given_targets) {
  const profile::Span span("bce_with_logits");
  const Tensor logits = in_f32("bce_with_logits", given);
  const Tensor targets = in_f32("bce_with_logits", given_targets);
  check_same_shape("bce_with_logits", logits, targets);
  const Tensor x = plain_contiguous(logits);
  const Tensor t = plain_contiguous(targets);
  check_probabilities("bce_with_logits", t);
  LossResult result =
      loss_result(cpu::binary_cross_entropy(x.data<float>(), t.data<float>(), x.count()), x.count());
  result.sum = record("bce_with_logits", result.sum, {logits},
                      [saved_x = SavedTensor(x, "bce_with_logits"),
                       saved_t = SavedTensor(t, "bce_with_logits")](BackwardContext& context) {
                        Tensor gradient = context.destination(0);
                        cpu::binary_cross_entropy_gradient(saved_x.get().data<float>(),
                                                           saved_t.get().data<float>(), upstream(context),
                                                           gradient.data<float>(), gradient.count());
                        context.add(0, gradient);
                      });
  return result;
}

LossResult nll(const Tensor& given, const Tensor& targets, int64_t ignore_index) {
  const profile::Span span("nll");
  const Tensor log_probabilities = in_f32("nll", given);
  check_logits_and_targets("nll", log_probabilities, targets);
  const Tensor rows = plain_contiguous(log_probabilities);
  const Tensor classes = plain_contiguous(targets);
  const int64_t width = rows.dim(1);
  const int64_t valid = count_valid_targets("nll", classes, width, ignore_index);
  double sum = 0;
  for (int64_t row = 0; row < rows.dim(0); ++row) {
    const int64_t target = classes.data<int64_t>()[row];
    if (target != ignore_index) sum -= static_cast<double>(rows.data<float>()[row * width + target]);
  }
  LossResult result = loss_result(sum, valid);
  result.sum = record("nll", result.sum, {log_probabilities},
                      [saved = SavedTensor(classes, "nll"), width, ignore_index](BackwardContext& context) {
                        const float g = upstream(context);
                        Tensor gradient = context.destination(0);
                        gradient.fill(0);
                        const Tensor& picked = saved.get();
                        for (int64_t row = 0; row < picked.count(); ++row) {
                          const int64_t target = picked.data<int64_t>()[row];
                          if (target != ignore_index) gradient.data<float>()[row * width + target] = -g;
                        }
                        context.add(0, gradient);
                      });
  return result;
}

}  // namespace lockstep::ops
