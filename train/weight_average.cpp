#include "train/weight_average.h"

#include <algorithm>
#include <utility>

#include "runtime/error.h"
#include "runtime/threads.h"

namespace lockstep::train {
namespace {

constexpr int64_t kGrain = 1 << 15;  // elements: tens of microseconds of memory traffic

}  // namespace

WeightAverage::WeightAverage(std::vector<Parameter*> parameters, double decay)
    : parameters_(std::move(parameters)),
      decay_(static_cast<float>(decay)),
      rest_(static_cast<float>(1 - decay)) {
  check(decay > 0 && decay < 1, "weight average", "decay: expected a number in (0, 1), got ", decay);
  for (const Parameter* parameter : parameters_) {
    averages_.push_back({parameter->name, Tensor::zeros(parameter->value.shape())});
  }
}

void WeightAverage::reset() {
  for (size_t p = 0; p < parameters_.size(); ++p) averages_[p].value.copy_from(parameters_[p]->value);
}

void WeightAverage::update() {
  for (size_t p = 0; p < parameters_.size(); ++p) {
    const float* weight = parameters_[p]->value.data<float>();
    float* average = averages_[p].value.data<float>();
    parallel_for(averages_[p].value.count(), kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) average[i] = decay_ * average[i] + rest_ * weight[i];
    });
  }
}

void WeightAverage::swap() {
  for (size_t p = 0; p < parameters_.size(); ++p) {
    Tensor& value = parameters_[p]->value;
    float* weight = value.data<float>();
    std::swap_ranges(weight, weight + value.count(), averages_[p].value.data<float>());
    value.bump_version();
  }
}

WeightAverage::InUse::InUse(WeightAverage* average) : average_(average) {
  if (average_ != nullptr) average_->swap();
}

WeightAverage::InUse::~InUse() {
  if (average_ != nullptr) average_->swap();
}

}  // namespace lockstep::train
