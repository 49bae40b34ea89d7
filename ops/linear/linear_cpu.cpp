#include "ops/cpu/float_type.h"
#include "ops/cpu/onednn.h"
#include "ops/linear/linear_kernels.h"
#include "ops/operands.h"
#include "runtime/threads.h"

namespace lockstep::ops {

Tensor weight_as_cpu(const Tensor& weight, DType dtype) {
  return onednn::packed(weight, nullptr, dtype);
}

void column_sums_cpu(const Tensor& x, const Tensor& sums) {
  constexpr int64_t kGrain = 256;  // columns
  const Tensor rows = plain_contiguous(x);
  const int64_t width = rows.dim(1);
  auto* total = sums.data<float>();
  cpu::visit_float("linear", rows.dtype(), [&]<class T>(T) {
    const auto* first = rows.data<T>();
    parallel_for(width, kGrain, [&, first](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; ++j) total[j] = static_cast<float>(first[j]);
      for (int64_t i = 1; i < rows.dim(0); ++i) {
        const T* row = first + i * width;
        for (int64_t j = begin; j < end; ++j) total[j] += static_cast<float>(row[j]);
      }
    });
  });
}

}  // namespace lockstep::ops
