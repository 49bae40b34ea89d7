#include "tests/comm/algorithms/plan_check.h"

#include <map>
#include <tuple>

#include "runtime/error.h"

namespace lockstep::comm::test {
namespace {

using Link = std::tuple<int, int, int>;  // sender, receiver, tag

bool is_outgoing(StepKind kind) {
  return kind == StepKind::kSend || kind == StepKind::kPublish || kind == StepKind::kSignal;
}

bool is_incoming(StepKind kind) {
  return kind == StepKind::kReceive || kind == StepKind::kDiscover || kind == StepKind::kAwait;
}

/// Elements; messages of the other kinds have lengths that tell them apart from these and each other.
int64_t length_of(const Step& step) {
  switch (step.kind) {
    case StepKind::kPublish:
    case StepKind::kDiscover:
      return -1;
    case StepKind::kSignal:
    case StepKind::kAwait:
      return -2;
    default:
      return step.left.count;
  }
}

std::string check_messages(const std::vector<Plan>& plans) {
  std::map<Link, int64_t> sent;
  std::map<Link, int64_t> received;
  for (int rank = 0; rank < static_cast<int>(plans.size()); ++rank) {
    for (const Step& step : plans[rank].steps) {
      if (is_outgoing(step.kind) && !sent.emplace(Link{rank, step.peer, step.tag}, length_of(step)).second) {
        return to_text("rank ", rank, " sends tag ", step.tag, " to ", step.peer, " twice");
      }
      if (is_incoming(step.kind) &&
          !received.emplace(Link{step.peer, rank, step.tag}, length_of(step)).second) {
        return to_text("rank ", rank, " receives tag ", step.tag, " from ", step.peer, " twice");
      }
    }
  }
  return sent == received ? "" : "sends and receives do not match";
}

/// For each step, the steps that must be finished before it starts, directly or not.
std::vector<std::vector<bool>> ancestors_of(const Plan& plan) {
  const size_t steps = plan.steps.size();
  std::vector<std::vector<bool>> before(steps, std::vector<bool>(steps, false));
  for (size_t s = 0; s < steps; ++s) {
    for (int i = plan.successor_offsets[s]; i < plan.successor_offsets[s + 1]; ++i) {
      const size_t later = plan.successors[i];
      before[later][s] = true;
      for (size_t t = 0; t < s; ++t) {
        if (before[s][t]) before[later][t] = true;
      }
    }
  }
  return before;
}

/// The result may be any operand, so they count as the same memory.
bool overlap(const Region& a, const Region& b) {
  if (a.peer != b.peer) return false;
  const bool same_memory = (a.buffer == b.buffer) || (a.buffer != kScratch && b.buffer != kScratch &&
                                                      (a.buffer == kResult || b.buffer == kResult));
  return same_memory && a.begin < b.begin + b.count && b.begin < a.begin + a.count;
}

bool touches_elements(const Step& step) {
  return step.kind == StepKind::kSend || step.kind == StepKind::kReceive || step.kind == StepKind::kReduce ||
         step.kind == StepKind::kCopy;
}

bool writes_over(const Step& writer, const Step& other) {
  if (writer.kind == StepKind::kSend || !touches_elements(writer) || !touches_elements(other)) return false;
  if (overlap(writer.target, other.left) ||
      (other.kind == StepKind::kReduce && overlap(writer.target, other.right)))
    return true;
  return other.kind != StepKind::kSend && overlap(writer.target, other.target);
}

std::string check_order(const Plan& plan) {
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    for (int i = plan.successor_offsets[s]; i < plan.successor_offsets[s + 1]; ++i) {
      if (plan.successors[i] <= static_cast<int>(s))
        return to_text("step ", s, " comes before what it depends on");
    }
  }
  const std::vector<std::vector<bool>> before = ancestors_of(plan);
  for (size_t later = 0; later < plan.steps.size(); ++later) {
    for (size_t earlier = 0; earlier < later; ++earlier) {
      const Step& a = plan.steps[earlier];
      const Step& b = plan.steps[later];
      if (!before[later][earlier] && (writes_over(a, b) || writes_over(b, a))) {
        return to_text("steps ", earlier, " and ", later, " use the same memory in no order");
      }
    }
  }
  return "";
}

}  // namespace

std::vector<Plan> plans_of(int ranks, const std::function<Plan(int rank)>& plan) {
  std::vector<Plan> plans;
  for (int rank = 0; rank < ranks; ++rank) plans.push_back(plan(rank));
  return plans;
}

std::vector<Plan> plans_of(Plan (*algorithm)(const ReductionShape&), ReductionShape shape) {
  return plans_of(shape.size, [&](int rank) {
    shape.rank = rank;
    return algorithm(shape);
  });
}

std::string check_plans(const std::vector<Plan>& plans) {
  std::string wrong = check_messages(plans);
  for (size_t rank = 0; rank < plans.size() && wrong.empty(); ++rank) {
    const std::string order = check_order(plans[rank]);
    if (!order.empty()) wrong = to_text("rank ", rank, ": ", order);
  }
  return wrong;
}

int64_t elements_sent(const Plan& plan) {
  int64_t total = 0;
  for (const Step& step : plan.steps) total += step.kind == StepKind::kSend ? step.left.count : 0;
  return total;
}

int64_t messages_sent(const Plan& plan) {
  int64_t total = 0;
  for (const Step& step : plan.steps) total += step.kind == StepKind::kSend ? 1 : 0;
  return total;
}

}  // namespace lockstep::comm::test
