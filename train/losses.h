// The losses and metrics that a configuration can name.
#pragma once

#include <string>
#include <vector>

#include "ops/loss_result.h"
#include "runtime/tensor.h"

namespace lockstep::train {

struct LossOptions {
  double label_smoothing = 0;  ///< in [0, 1)
};

/// `output` is the model's for a micro-batch, `target` the batch's. The result is a sum with its weight,
/// since only the sums over all ranks may be divided.
struct LossRow {
  const char* name;
  ops::LossResult (*compute)(const Tensor& output, const Tensor& target, const LossOptions& options);
  const char* usual_metric = nullptr;  ///< measured unless the configuration names others; null: none
};

/// A sum over the micro-batch's items; divided by the loss's weight over all ranks.
struct MetricRow {
  const char* name;
  double (*sum)(const Tensor& output, const Tensor& target);
  bool higher_is_better = true;
};

/// Those of this library, then the program's own:
///   cross_entropy    output [.., classes], target i64 [..]; items are rows that are not ignored
///   bce_with_logits  output and target of one shape, target f32 in [0, 1]; items are elements
///   mse              output and target of one shape, f32; items are elements
std::vector<LossRow> losses(const std::vector<LossRow>& own = {});
/// The same for metrics:
///   accuracy, top5_accuracy   output [.., classes], target i64 [..]
///   absolute_error            output and target of one shape
std::vector<MetricRow> metrics(const std::vector<MetricRow>& own = {});

}  // namespace lockstep::train
