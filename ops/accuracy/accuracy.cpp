#include "ops/accuracy/accuracy.h"

#include "ops/accuracy/accuracy_kernels.h"
#include "ops/cast/cast.h"
#include "ops/operands.h"
#include "runtime/profile.h"

namespace lockstep::ops {
namespace {

int64_t count(const char* operation, const Tensor& logits, const Tensor& targets, int64_t k,
              int64_t ignore_index) {
  const profile::Span span(operation);
  check_logits_and_targets(operation, logits, targets);
  check(k > 0, operation, "expected a positive k, got ", k);
  const Tensor x = plain_contiguous(cast(logits, DType::kF32));
  const Tensor classes = plain_contiguous(targets);
  return cpu::count_in_top_k(x.data<float>(), classes.data<int64_t>(),
                             {.rows = logits.dim(0), .classes = logits.dim(1)}, k, ignore_index);
}

}  // namespace

int64_t count_correct(const Tensor& logits, const Tensor& targets, int64_t ignore_index) {
  return count("count_correct", logits, targets, 1, ignore_index);
}

int64_t count_in_top_k(const Tensor& logits, const Tensor& targets, int64_t k, int64_t ignore_index) {
  return count("count_in_top_k", logits, targets, k, ignore_index);
}

}  // namespace lockstep::ops
