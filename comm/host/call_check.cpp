#include "comm/host/call_check.h"

#include <algorithm>
#include <string>

#include "comm/algorithms/plan.h"
#include "runtime/error.h"

namespace lockstep::comm {
namespace {

/// Above all tags of collectives, so that descriptions meet whatever the ranks call.
constexpr int kTag = Transport::kTagEnd - 1;
constexpr int kSentToken = 0;
constexpr int kReceivedToken = 1;

}  // namespace

void CallCheck::start(const Call& call) {
  mine_ = {};
  mine_.sequence = call.sequence;
  mine_.count = call.count;
  mine_.root = call.root;
  mine_.leaves = call.leaves;
  mine_.kind = call.kind;
  mine_.op = call.op;
  mine_.dtype = call.dtype;
  mine_.codec = call.options.codec;
  mine_.shared = call.shared;
  const std::string text = describe(call);
  std::copy_n(text.begin(), std::min(text.size(), sizeof(mine_.text) - 1), mine_.text);
  sent_ = false;
  received_ = false;
  transport_.receive(previous(), kTag, &theirs_, sizeof(theirs_), kReceivedToken);
  transport_.send(next(), kTag, &mine_, sizeof(mine_), kSentToken);
}

bool CallCheck::advance() {
  finished_.clear();
  transport_.poll(finished_);
  for (const int token : finished_) (token == kSentToken ? sent_ : received_) = true;
  if (!sent_ || !received_) return false;
  const char* difference = first_difference(mine_, theirs_);
  check<CommError>(
      difference == nullptr, "call check", "the ranks make different calls (first difference: ", difference,
      "): rank ", transport_.rank(), " called ", mine_.text, ", rank ", previous(), " called ", theirs_.text);
  return true;
}

const char* CallCheck::first_difference(const Description& a, const Description& b) {
  if (a.sequence != b.sequence) return "sequence number";
  if (a.kind != b.kind) return "operation";
  if (a.dtype != b.dtype) return "dtype";
  if (a.codec != b.codec) return "codec";
  if (a.count != b.count) return "count";
  if (a.op != b.op) return "reduction";
  if (a.root != b.root) return "root";
  if (a.leaves != b.leaves) return "leaves";
  if (a.shared != b.shared) return "shared memory";
  return nullptr;
}

std::vector<int> CallCheck::missing_peers() const {
  return {received_ ? next() : previous()};
}

}  // namespace lockstep::comm
