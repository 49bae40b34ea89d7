#include "ops/cpu/onednn.h"
#include "ops/matmul/matmul_kernels.h"
#include "ops/operands.h"

namespace lockstep::ops {
namespace {

/// A contiguous matrix or batch, read along the other dimension if `transpose`.
dnnl::memory::desc matrix(const Tensor& x, bool transpose) {
  const dnnl::memory::desc desc = onednn::row_major(x.shape());
  if (!transpose) return desc;
  return desc.permute_axes(x.ndim() == 2 ? std::vector<int>{1, 0} : std::vector<int>{0, 2, 1});
}

}  // namespace

void matmul_cpu(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& result,
                const MatmulOptions& options) {
  thread_local onednn::KernelCache cache;
  const Tensor left = plain_contiguous(a);
  const Tensor right = plain_contiguous(b);
  onednn::Kernel& kernel =
      cache.get("matmul", {left, right, bias}, {options.transpose_a, options.transpose_b}, [&] {
        Shape bias_shape(std::vector<int64_t>(static_cast<size_t>(a.ndim()), 1));
        bias_shape[-1] = result.dim(-1);
        const dnnl::matmul::desc description(
            matrix(left, options.transpose_a), matrix(right, options.transpose_b),
            bias.defined() ? onednn::row_major(bias_shape) : dnnl::memory::desc(),
            onednn::row_major(result.shape()));
        return onednn::Kernel(
            "matmul", dnnl::matmul::primitive_desc(description, onednn::attributes(), onednn::engine()),
            {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS, DNNL_ARG_DST});
      });
  const Tensor addend = bias.defined() ? plain_contiguous(bias) : bias;
  kernel.run_on_memory({{DNNL_ARG_SRC, left.raw()},
                        {DNNL_ARG_WEIGHTS, right.raw()},
                        {DNNL_ARG_BIAS, addend.defined() ? addend.raw() : nullptr},
                        {DNNL_ARG_DST, result.raw()}});
}

}  // namespace lockstep::ops
