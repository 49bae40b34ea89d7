#include "train/objective.h"

#include "ops/cast/cast.h"

namespace lockstep::train {

Tensor Objective::measure(const data::Batch& batch, const Tensor& computed, std::span<double> sums) const {
  const Tensor output = ops::cast(computed, DType::kF32);
  const ops::LossResult loss = loss_.compute(output, batch.targets, options_);
  sums[kLoss] += loss.sum_value;
  sums[kWeight] += loss.weight;
  sums[kBadSamples] += static_cast<double>(batch.bad_samples);
  for (size_t i = 0; i < metrics_.size(); ++i) sums[kMetrics + i] += metrics_[i].sum(output, batch.targets);
  return loss.sum;
}

Measured Objective::means(std::span<const double> sums) const {
  Measured measured;
  measured.weight = sums[kWeight];
  measured.bad_samples = static_cast<int64_t>(sums[kBadSamples]);
  const bool some = measured.weight > 0;
  measured.loss = some ? sums[kLoss] / measured.weight : 0;
  for (size_t i = 0; i < metrics_.size(); ++i) {
    measured.metrics.emplace_back(metrics_[i].name, some ? sums[kMetrics + i] / measured.weight : 0);
  }
  return measured;
}

}  // namespace lockstep::train
