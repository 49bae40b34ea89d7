#include "ops/elementwise/broadcast.h"

namespace lockstep::ops {

int64_t BroadcastPlan::outer_count() const {
  int64_t count = 1;
  for (int dim = 0; dim + 1 < ndim; ++dim) count *= extents[dim];
  return count;
}

BroadcastPlan plan_contiguous(int64_t count) {
  BroadcastPlan plan;
  plan.extents[0] = count;
  plan.a_strides[0] = 1;
  plan.b_strides[0] = 1;
  return plan;
}

BroadcastPlan plan_broadcast(const Shape& result, const Tensor& a, const Tensor& b) {
  const Shape a_strides = a.expand(result).strides();
  const Shape b_strides = b.expand(result).strides();
  BroadcastPlan plan;
  plan.ndim = 0;
  for (int dim = 0; dim < result.ndim(); ++dim) {
    const int64_t extent = result[dim];
    if (extent == 1) continue;
    const int last = plan.ndim - 1;
    if (plan.ndim > 0 && plan.a_strides[last] == a_strides[dim] * extent &&
        plan.b_strides[last] == b_strides[dim] * extent) {
      plan.extents[last] *= extent;
      plan.a_strides[last] = a_strides[dim];
      plan.b_strides[last] = b_strides[dim];
      continue;
    }
    const int next = plan.ndim++;
    plan.extents[next] = extent;
    plan.a_strides[next] = a_strides[dim];
    plan.b_strides[next] = b_strides[dim];
  }
  return plan.ndim > 0 ? plan : plan_contiguous(1);
}

}  // namespace lockstep::ops
