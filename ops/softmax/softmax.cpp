#include "ops/softmax/softmax.h"

#include "ops/operands.h"
#include "ops/reshape/reshape.h"
#include "ops/softmax/softmax_kernels.h"
#include "runtime/autograd.h"
#include "runtime/profile.h"

namespace lockstep::ops {
namespace {

Tensor along_last(const char* name, SoftmaxKind kind, const Tensor& x) {
  const Tensor input = plain_contiguous(x);
  const Tensor result = Tensor::empty(x.shape(), x.dtype());
  const int64_t width = x.dim(-1);
  const int64_t rows = width == 0 ? 0 : x.count() / width;
  cpu::softmax(kind, x.dtype(), input.raw(), rows, width, result.raw());
  return record(name, result, {x},
                [kind, rows, width, saved = SavedTensor(result, name)](BackwardContext& context) {
                  const Tensor grad = plain_contiguous(context.grad());
                  const Tensor gradient = context.destination(0);
                  cpu::softmax_gradient(kind, gradient.dtype(), saved.get().raw(), grad.raw(), rows, width,
                                        gradient.raw());
                  context.add(0, gradient);
                });
}

Tensor along(const char* name, SoftmaxKind kind, const Tensor& x, int dim) {
  const profile::Span span(name);
  check_float(name, x);
  check_cpu(name, x);
  const int d = check_dim(name, dim, x.shape());
  if (d == x.ndim() - 1) return along_last(name, kind, x);
  return contiguous(transpose(along_last(name, kind, transpose(x, d, -1)), d, -1));
}

}  // namespace

Tensor softmax(const Tensor& x, int dim) {
  return along("softmax", SoftmaxKind::kSoftmax, x, dim);
}

Tensor log_softmax(const Tensor& x, int dim) {
  return along("log_softmax", SoftmaxKind::kLogSoftmax, x, dim);
}

}  // namespace lockstep::ops
