#include "ops/accuracy/accuracy.h"

#include "ops/accuracy/accuracy_kernels.h"
#include "ops/operands.h"

namespace lockstep::ops {

int64_t count_correct(const Tensor& logits, const Tensor& targets, int64_t ignore_index) {
  check_logits_and_targets("count_correct", logits, targets);
  const Tensor x = plain_contiguous(logits);
  const Tensor classes = plain_contiguous(targets);
  return cpu::count_correct(x.data<float>(), classes.data<int64_t>(),
                            {.rows = logits.dim(0), .classes = logits.dim(1)}, ignore_index);
}

}  // namespace lockstep::ops
