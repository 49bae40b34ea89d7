#include "comm/call.h"

#include "comm/codecs/table.h"
#include "runtime/error.h"

namespace lockstep::comm {

const char* name_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
      return "sum";
    case ReduceOp::kMax:
      return "max";
    case ReduceOp::kMin:
      break;
  }
  return "min";
}

const char* name_of(Collective kind) {
  switch (kind) {
    case Collective::kAllReduce:
      return "all_reduce";
    case Collective::kTreeSum:
      return "tree_sum";
    case Collective::kReduceScatter:
      return "reduce_scatter";
    case Collective::kAllGather:
      return "all_gather";
    case Collective::kBroadcast:
      return "broadcast";
    case Collective::kBarrier:
      break;
  }
  return "barrier";
}

std::string describe(const Call& call) {
  std::string what;
  const auto add = [&](const auto&... parts) { what += (what.empty() ? "" : ", ") + to_text(parts...); };
  switch (call.kind) {
    case Collective::kAllReduce:
    case Collective::kReduceScatter:
      add(name_of(call.op), " of ", call.count, " ", call.dtype);
      break;
    case Collective::kTreeSum:
      add(call.count, " ", call.dtype, " over ", call.leaves, " leaves");
      break;
    case Collective::kAllGather:
      add(call.count, " ", call.dtype, " a rank");
      break;
    case Collective::kBroadcast:
      add(call.count, " ", call.dtype, " from rank ", call.root);
      break;
    case Collective::kBarrier:
      break;
  }
  if (call.options.codec != Codec::kNone) add("as ", name_of(call.options.codec));
  if (!call.options.label.empty()) add(call.options.label);
  return to_text(name_of(call.kind), " #", call.sequence, what.empty() ? "" : " (", what,
                 what.empty() ? "" : ")", " at step ", call.step);
}

}  // namespace lockstep::comm
