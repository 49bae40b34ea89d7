#include <algorithm>

#include "ops/cast/cast.h"
#include "ops/cpu/onednn.h"
#include "ops/matmul/matmul_kernels.h"
#include "ops/operands.h"
#include "runtime/error.h"
#include "runtime/threads.h"

namespace lockstep::ops {
namespace {

/// Whether the product, of f32 operands, is sgemm's, which copies both operands into panels, instead of
/// matmul's, which reads a right operand that is not transposed where it lies. On one core of Zen 4 the
/// copies gain 1 to 7 % on the products of GPT-2's blocks and 18 % where the inner extent is its vocabulary;
/// on those of a small MLP they lose up to 3 % or gain 5. A transposed right operand is copied by both, and
/// mostly faster by matmul (benchmarks/matmul).
bool takes_sgemm(const Tensor& a, const MatmulOptions& options) {
  return a.dtype() == DType::kF32 && a.ndim() == 2 && !options.transpose_b;
}

void repeat_row(const float* row, const Tensor& result) {
  constexpr int64_t kGrain = 1 << 14;  // elements
  const int64_t width = result.dim(1);
  auto* first = result.data<float>();
  parallel_for(result.dim(0), std::max<int64_t>(1, kGrain / width), [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) std::copy_n(row, width, first + i * width);
  });
}

void run_sgemm(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& result, bool transpose_a) {
  if (bias.defined()) repeat_row(bias.data<float>(), result);
  const int64_t columns = result.dim(1);
  const dnnl::status status = dnnl::sgemm(transpose_a ? 'T' : 'N', 'N', result.dim(0), columns, b.dim(0), 1,
                                          a.data<float>(), a.dim(1), b.data<float>(), columns,
                                          bias.defined() ? 1.0F : 0.0F, result.data<float>(), columns);
  ensure(status == dnnl::status::success, "matmul", "oneDNN refused the product of ", a.shape(), " and ",
         b.shape());
}

/// A contiguous matrix or batch, read along the other dimension if `transpose`.
dnnl::memory::desc matrix(const Tensor& x, bool transpose) {
  const dnnl::memory::desc desc = onednn::row_major(x.shape(), x.dtype());
  if (!transpose) return desc;
  return desc.permute_axes(x.ndim() == 2 ? std::vector<int>{1, 0} : std::vector<int>{0, 2, 1});
}

void run_matmul(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& result,
                const MatmulOptions& options) {
  thread_local onednn::KernelCache cache;
  const auto result_type = static_cast<int64_t>(result.dtype());
  onednn::Kernel& kernel =
      cache.get("matmul", {a, b, bias}, {options.transpose_a, options.transpose_b, result_type}, [&] {
        Shape bias_shape(std::vector<int64_t>(static_cast<size_t>(a.ndim()), 1));
        bias_shape[-1] = result.dim(-1);
        const dnnl::matmul::desc description(
            matrix(a, options.transpose_a), matrix(b, options.transpose_b),
            bias.defined() ? onednn::row_major(bias_shape) : dnnl::memory::desc(),
            onednn::row_major(result.shape(), result.dtype()));
        return onednn::Kernel(
            "matmul", dnnl::matmul::primitive_desc(description, onednn::attributes(), onednn::engine()),
            {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS, DNNL_ARG_DST});
      });
  kernel.run_on_memory({{DNNL_ARG_SRC, a.raw()},
                        {DNNL_ARG_WEIGHTS, b.raw()},
                        {DNNL_ARG_BIAS, bias.defined() ? bias.raw() : nullptr},
                        {DNNL_ARG_DST, result.raw()}});
}

}  // namespace

void matmul_cpu(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& result,
                const MatmulOptions& options) {
  const DType dtype = a.dtype() == b.dtype() ? a.dtype() : DType::kBF16;
  const Tensor left = plain_contiguous(cast(a.detach(), dtype));
  const Tensor right = plain_contiguous(cast(b.detach(), dtype));
  const Tensor addend = bias.defined() ? plain_contiguous(bias) : bias;
  if (takes_sgemm(left, options)) {
    run_sgemm(left, right, addend, result, options.transpose_a);
  } else {
    run_matmul(left, right, addend, result, options);
  }
}

}  // namespace lockstep::ops
