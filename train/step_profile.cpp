#include "train/step_profile.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <tuple>

namespace lockstep::train {
namespace {

using profile::Category;
using profile::Event;

/// In the order in which tables show them.
constexpr std::array kPhases{"data", "forward", "backward", "communication", "optimizer"};
enum Phase : size_t { kData, kForward };

double seconds_of(const Event& event) {
  return std::chrono::duration<double>(event.end - event.start).count();
}

bool within(const Event& part, const Event& whole) {
  return whole.start <= part.start && part.end <= whole.end;
}

/// The phases of one step, "other" last.
std::vector<double> phases_of(const Event& step, const std::vector<Event>& events) {
  std::vector<double> seconds(kPhases.size() + 1);
  for (const Event& event : events) {
    if (event.category != Category::kPhase || !within(event, step)) continue;
    for (size_t i = 0; i < kPhases.size(); ++i) {
      if (event.name == kPhases[i]) seconds[i] += seconds_of(event);
    }
  }
  seconds[kForward] -= seconds[kData];  // which lies inside
  seconds.back() = seconds_of(step);
  for (size_t i = 0; i < kPhases.size(); ++i) seconds.back() -= seconds[i];
  return seconds;
}

/// Sums while they grow: by name and pass, and below that by layer.
struct Sums {
  OperationCost cost;
  std::map<std::string, double> layers;
};

OperationCost finished(Sums sums, double steps) {
  OperationCost& cost = sums.cost;
  for (const auto& [layer, seconds] : sums.layers) {
    if (seconds > cost.layer_seconds) std::tie(cost.layer, cost.layer_seconds) = std::tie(layer, seconds);
  }
  for (double* figure :
       {&cost.calls, &cost.seconds, &cost.work.operations, &cost.work.bytes, &cost.layer_seconds}) {
    *figure /= steps;
  }
  return cost;
}

std::vector<OperationCost> operations_of(const std::vector<const Event*>& events, double steps) {
  std::map<std::pair<std::string, bool>, Sums> sums;
  for (const Event* event : events) {
    const bool backward = event->category == Category::kBackward;
    Sums& sum = sums[{event->name, backward}];
    sum.cost.name = event->name;
    sum.cost.backward = backward;
    ++sum.cost.calls;
    sum.cost.seconds += seconds_of(*event);
    sum.cost.work.operations += event->work.operations;
    sum.cost.work.bytes += event->work.bytes;
    sum.layers[event->layer] += seconds_of(*event);
  }
  std::vector<OperationCost> costs;
  for (auto& [key, sum] : sums) costs.push_back(finished(std::move(sum), steps));
  std::sort(costs.begin(), costs.end(),
            [](const OperationCost& a, const OperationCost& b) { return a.seconds > b.seconds; });
  return costs;
}

}  // namespace

StepProfile summarize(const std::vector<Event>& events) {
  StepProfile result;
  for (const char* phase : kPhases) result.phases.push_back({phase, {}});
  result.phases.push_back({"other", {}});
  std::vector<const Event*> operations;
  for (const Event& step : events) {
    if (step.category != Category::kStep) continue;
    result.steps.push_back(seconds_of(step));
    const std::vector<double> phases = phases_of(step, events);
    for (size_t i = 0; i < phases.size(); ++i) result.phases[i].seconds.push_back(phases[i]);
    for (const Event& event : events) {
      const bool operation = event.category == Category::kForward || event.category == Category::kBackward;
      if (operation && !event.nested && within(event, step)) operations.push_back(&event);
    }
  }
  if (result.steps.empty()) return result;
  result.operations = operations_of(operations, static_cast<double>(result.steps.size()));
  for (const OperationCost& cost : result.operations) {
    result.work.operations += cost.work.operations;
    result.work.bytes += cost.work.bytes;
  }
  return result;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace lockstep::train
