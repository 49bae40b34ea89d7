#include "ops/cross_entropy/cross_entropy.h"

#include "ops/cross_entropy/cross_entropy_kernels.h"
#include "ops/operands.h"
#include "runtime/autograd.h"
#include "runtime/profile.h"

namespace lockstep::ops {
LossResult cross_entropy(const Tensor& given, const Tensor& targets, const CrossEntropyOptions& options) {
  const profile::Span span("cross_entropy");
  const Tensor logits = in_f32("cross_entropy", given);
  check_logits_and_targets("cross_entropy", logits, targets);
  check(options.label_smoothing >= 0 && options.label_smoothing <= 1, "cross_entropy",
        "expected label smoothing in [0, 1], got ", options.label_smoothing);
  const cpu::CrossEntropyShape shape{.rows = logits.dim(0), .classes = logits.dim(1)};
  const Tensor x = plain_contiguous(logits);
  const Tensor classes = plain_contiguous(targets);
  const int64_t valid = count_valid_targets("cross_entropy", classes, shape.classes, options.ignore_index);

  std::vector<double> losses(static_cast<size_t>(shape.rows));
  Tensor greatest = Tensor::empty({shape.rows});
  Tensor inverse_sums = Tensor::empty({shape.rows});
  cpu::cross_entropy(x.data<float>(), classes.data<int64_t>(), shape, options, losses.data(),
                     greatest.data<float>(), inverse_sums.data<float>());
  LossResult result{.sum = {}, .sum_value = 0, .weight = static_cast<double>(valid)};
  for (const double loss : losses) result.sum_value += loss;

  result.sum =
      record("cross_entropy", Tensor::scalar(static_cast<float>(result.sum_value)), {logits},
             [saved = SavedTensor(x, "cross_entropy"), saved_classes = SavedTensor(classes, "cross_entropy"),
              greatest, inverse_sums, shape, options](BackwardContext& context) {
               const Tensor& from = saved.get();
               const Tensor gradient = from.is_exclusive() ? from : context.destination(0);
               cpu::cross_entropy_gradient(from.data<float>(), saved_classes.get().data<int64_t>(),
                                           greatest.data<float>(), inverse_sums.data<float>(), shape, options,
                                           static_cast<float>(context.grad().item()), gradient.data<float>());
               context.add(0, gradient);
             });
  return result;
}

}  // namespace lockstep::ops
