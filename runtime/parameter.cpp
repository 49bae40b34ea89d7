#include "runtime/parameter.h"

#include <cmath>
#include <map>
#include <set>

#include "runtime/autograd.h"
#include "runtime/error.h"
#include "runtime/threads.h"

namespace lockstep {
namespace {

constexpr int64_t kDrawGrain = 1 << 12;  // random numbers that one thread draws at least

}  // namespace

void initialize(Parameter& parameter, uint64_t seed, uint64_t position) {
  const Initializer& initializer = parameter.initializer;
  const RandomStream stream(seed, Purpose::kInitialize, 0, position);
  auto* values = parameter.value.data<float>();
  parallel_for(parameter.value.count(), kDrawGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto at = static_cast<uint64_t>(i);
      double offset = 0;
      if (initializer.kind == Initializer::Kind::kUniform) offset = 2.0 * stream.uniform(at) - 1.0;
      if (initializer.kind == Initializer::Kind::kNormal) offset = stream.normal(at);
      values[i] = static_cast<float>(initializer.center + initializer.spread * offset);
    }
  });
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
  if (observations.defined()) {
    *observations.data<int64_t>() += count;
    observations.bump_version();
  }
}

void copy_by_name(const char* operation, const std::vector<NamedTensor>& sources,
                  const std::vector<NamedTensor>& targets) {
  std::map<std::string, Tensor> by_name;
  for (const NamedTensor& source : sources) {
    check(by_name.emplace(source.name, source.value).second, operation, source.name, " is there twice");
  }
  std::set<std::string> expected;
  for (const NamedTensor& target : targets) {
    expected.insert(target.name);
    const auto found = by_name.find(target.name);
    check(found != by_name.end(), operation, target.name, " is missing");
    const Tensor& source = found->second;
    check(source.shape() == target.value.shape() && source.dtype() == target.value.dtype(), operation,
          target.name, ": expected ", target.value.dtype(), ' ', target.value.shape(), ", got ",
          source.dtype(), ' ', source.shape());
  }
  for (const NamedTensor& source : sources) {
    check(expected.count(source.name) == 1, operation, source.name,
          " is unexpected: no tensor has this name");
  }
  for (const NamedTensor& target : targets) Tensor(target.value).copy_from(by_name.at(target.name));
}

}  // namespace lockstep
