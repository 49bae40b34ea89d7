#include <algorithm>

#include "ops/linear/linear_kernels.h"
#include "ops/operands.h"
#include "runtime/threads.h"

namespace lockstep::ops {

void column_sums_cpu(const Tensor& x, const Tensor& sums) {
  constexpr int64_t kGrain = 256;  // columns
  const Tensor rows = plain_contiguous(x);
  const int64_t width = rows.dim(1);
  const auto* first = rows.data<float>();
  auto* total = sums.data<float>();
  parallel_for(width, kGrain, [&](int64_t begin, int64_t end) {
    std::copy(first + begin, first + end, total + begin);
    for (int64_t i = 1; i < rows.dim(0); ++i) {
      const float* row = first + i * width;
      for (int64_t j = begin; j < end; ++j) total[j] += row[j];
    }
  });
}

}  // namespace lockstep::ops
