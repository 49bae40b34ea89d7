#include "ops/embedding/embedding.h"

#include "ops/embedding/embedding_kernels.h"
#include "ops/operands.h"
#include "runtime/autograd.h"
#include "runtime/profile.h"

namespace lockstep::ops {
namespace {

constexpr const char* kName = "embedding";

}  // namespace

Tensor embedding(const Tensor& table, const Tensor& indices, DType dtype) {
  const profile::Span span(kName);
  check_f32(kName, table);
  check_cpu(kName, table);
  check(table.ndim() == 2, kName, "expected a table [v, c], got ", table.shape());
  check(dtype == DType::kF32 || dtype == DType::kBF16, kName, "expected f32 or bf16 for the result, got ",
        dtype);
  const Tensor rows = plain_contiguous(table);
  const Tensor positions = check_indices(kName, indices, rows.dim(0));
  const int64_t width = rows.dim(1);
  Shape shape = indices.shape();
  shape.push_back(width);
  const Tensor result = Tensor::empty(shape, dtype);
  cpu::gather_rows(rows.data<float>(), positions.data<int64_t>(), positions.count(), width, dtype,
                   result.raw());
  profile::touch(table.raw(), result.nbytes());  // the rows asked for, not the whole table
  return record(kName, result, {table}, [saved = SavedTensor(positions, kName)](BackwardContext& context) {
    const Tensor grad = plain_contiguous(context.grad());
    const Tensor& taken = saved.get();
    context.accumulate(0, [&](const Tensor& sums) {
      cpu::add_rows(grad.dtype(), grad.raw(), taken.data<int64_t>(), taken.count(), sums.dim(1),
                    sums.data<float>(), sums.dim(0));
    });
  });
}

}  // namespace lockstep::ops
