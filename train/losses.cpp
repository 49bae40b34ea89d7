#include "train/losses.h"

#include "ops/accuracy/accuracy.h"
#include "ops/cross_entropy/cross_entropy.h"
#include "ops/elementwise/elementwise.h"
#include "ops/losses/losses.h"
#include "ops/reduce/reduce.h"
#include "ops/reshape/reshape.h"
#include "runtime/autograd.h"
#include "runtime/named_rows.h"

namespace lockstep::train {
namespace {

/// [.., classes] as [rows, classes].
Tensor rows_of(const Tensor& output) {
  return output.ndim() <= 2 ? output
                            : ops::reshape(output, {output.count() / output.dim(-1), output.dim(-1)});
}

Tensor flat(const Tensor& target) {
  return target.ndim() == 1 ? target : ops::reshape(target, {target.count()});
}

ops::LossResult cross_entropy(const Tensor& output, const Tensor& target, const LossOptions& options) {
  return ops::cross_entropy(rows_of(output), flat(target), {.label_smoothing = options.label_smoothing});
}

ops::LossResult bce_with_logits(const Tensor& output, const Tensor& target, const LossOptions& /*options*/) {
  return ops::bce_with_logits(output, target);
}

ops::LossResult mse(const Tensor& output, const Tensor& target, const LossOptions& /*options*/) {
  return ops::mse(output, target);
}

double accuracy(const Tensor& output, const Tensor& target) {
  return static_cast<double>(ops::count_correct(rows_of(output), flat(target)));
}

double top5_accuracy(const Tensor& output, const Tensor& target) {
  return static_cast<double>(ops::count_in_top_k(rows_of(output), flat(target), 5));
}

double absolute_error(const Tensor& output, const Tensor& target) {
  const NoGrad no_grad;
  return ops::sum(ops::abs(ops::sub(output, target))).item();
}

constexpr LossRow kLosses[] = {
    {"cross_entropy", cross_entropy, "accuracy"},
    {"bce_with_logits", bce_with_logits, nullptr},
    {"mse", mse, nullptr},
};

constexpr MetricRow kMetrics[] = {
    {"accuracy", accuracy},
    {"top5_accuracy", top5_accuracy},
    {"absolute_error", absolute_error, false},
};

}  // namespace

std::vector<LossRow> losses(const std::vector<LossRow>& own) {
  return with_own(kLosses, own);
}

std::vector<MetricRow> metrics(const std::vector<MetricRow>& own) {
  return with_own(kMetrics, own);
}

}  // namespace lockstep::train
