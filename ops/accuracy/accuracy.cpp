#include "ops/accuracy/accuracy.h"

#include "ops/accuracy/accuracy_kernels.h"
#include "ops/operands.h"

namespace lockstep::ops {

int64_t count_correct(const Tensor& logits, const Tensor& targets, int64_t ignore_index) {
  return count_in_top_k(logits, targets, 1, ignore_index);
}

int64_t count_in_top_k(const Tensor& logits, const Tensor& targets, int64_t k, int64_t ignore_index) {
  check_logits_and_targets("count_in_top_k", logits, targets);
  check(k > 0, "count_in_top_k", "expected a positive k, got ", k);
  const Tensor x = plain_contiguous(logits);
  const Tensor classes = plain_contiguous(targets);
  return cpu::count_in_top_k(x.data<float>(), classes.data<int64_t>(),
                             {.rows = logits.dim(0), .classes = logits.dim(1)}, k, ignore_index);
}

}  // namespace lockstep::ops
