// What training minimises and what is measured beside it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "data/loader.h"
#include "train/losses.h"

namespace lockstep::train {

/// Means over the items of a step or an evaluation, of all ranks.
struct Measured {
  double loss = 0;
  std::vector<std::pair<std::string, double>> metrics;  ///< by name
  double weight = 0;                                    ///< items: what the loss counts
  int64_t bad_samples = 0;                              ///< replaced or left out
};

class Objective {
 public:
  Objective(const LossRow& loss, const LossOptions& options, std::vector<MetricRow> metrics)
      : loss_(loss), options_(options), metrics_(std::move(metrics)) {}

  /// The same without what only training wants (label smoothing).
  Objective for_evaluation() const { return {loss_, {}, metrics_}; }

  /// How many sums measure() adds to.
  size_t width() const { return kMetrics + metrics_.size(); }
  /// Adds a micro-batch to the sums and returns its differentiable summed loss. Loss and metrics are computed
  /// in f32 from an output of any type.
  Tensor measure(const data::Batch& batch, const Tensor& output, std::span<double> sums) const;
  /// What the sums over all micro-batches mean; zeros where no item counts.
  Measured means(std::span<const double> sums) const;

 private:
  enum Sum : size_t { kLoss, kWeight, kBadSamples, kMetrics };

  LossRow loss_;
  LossOptions options_;
  std::vector<MetricRow> metrics_;
};

}  // namespace lockstep::train
