#include "runtime/parameter.h"

#include <cmath>

#include "runtime/autograd.h"
#include "runtime/error.h"

namespace lockstep {

void initialize(Parameter& parameter, uint64_t seed, uint64_t position) {
  const Initializer& initializer = parameter.initializer;
  const RandomStream stream(seed, Purpose::kInitialize, 0, position);
  auto* values = parameter.value.data<float>();
  for (int64_t i = 0; i < parameter.value.count(); ++i) {
    const auto at = static_cast<uint64_t>(i);
    double offset = 0;
    if (initializer.kind == Initializer::Kind::kUniform) offset = 2.0 * stream.uniform(at) - 1.0;
    if (initializer.kind == Initializer::Kind::kNormal) offset = stream.normal(at);
    values[i] = static_cast<float>(initializer.center + initializer.spread * offset);
  }
  parameter.value.bump_version();
}

void RunningStatistic::observe(const Tensor& batch_value) {
  const Tensor values = plain(batch_value).contiguous();
  check(values.shape() == value.shape(), "observe", name, " has shape ", value.shape(), ", got ",
        values.shape());
  const auto* observed = values.data<float>();
  if (sum.empty()) {
    const std::vector<double> total(observed, observed + values.count());
    commit(total, 1);
    return;
  }
  ensure(static_cast<int64_t>(sum.size()) == value.count(), "observe", name, " is bound to ", sum.size(),
         " sums");
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += observed[i];
}

void RunningStatistic::commit(std::span<const double> total, int64_t count) {
  ensure(static_cast<int64_t>(total.size()) == value.count(), "commit", name, " got ", total.size(),
         " totals");
  const double keep = std::pow(1 - momentum, static_cast<double>(count));
  auto* values = value.data<float>();
  for (size_t i = 0; i < total.size(); ++i) {
    values[i] = static_cast<float>(keep * values[i] + (1 - keep) * (total[i] / static_cast<double>(count)));
  }
  value.bump_version();
}

}  // namespace lockstep
