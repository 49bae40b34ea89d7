#include "ops/attention/attention.h"

#include <cmath>

#include "ops/attention/attention_kernels.h"
#include "ops/cast/cast.h"
#include "ops/operands.h"
#include "runtime/autograd.h"
#include "runtime/profile.h"

namespace lockstep::ops {
namespace {

constexpr const char* kName = "attention";
constexpr const char* kSelfName = "self_attention";

float scale_of(const AttentionOptions& options, int64_t width) {
  return static_cast<float>(options.scale == 0 ? 1 / std::sqrt(static_cast<double>(width)) : options.scale);
}

/// `x` where it lies if its rows are dense, else a copy.
Tensor with_dense_rows(const Tensor& x) {
  const Tensor strided = plain(x.detach());
  const bool dense = strided.strides()[-1] == 1 && strided.strides()[-2] >= x.dim(-1);
  return dense ? strided : strided.contiguous();
}

cpu::Heads heads_of(const Tensor& x) {
  const Shape& strides = x.strides();
  return {x.data<float>(), strides[0], strides[1], strides[2]};
}

/// Part 0, 1, 2 of qkv [n, t, 3 width]: queries, keys, values.
cpu::Heads part_of(const Tensor& qkv, const cpu::AttentionShape& shape, int part) {
  const int64_t row = qkv.dim(2);
  return {qkv.data<float>() + part * (row / 3), shape.queries * row, shape.width, row};
}

cpu::AttentionInputs parts_of(const Tensor& qkv, const cpu::AttentionShape& shape) {
  return {part_of(qkv, shape, 0), part_of(qkv, shape, 1), part_of(qkv, shape, 2)};
}

/// The heads of [n, t, width].
cpu::Heads merged_heads(const Tensor& x, const cpu::AttentionShape& shape) {
  return {x.data<float>(), shape.queries * x.dim(2), shape.width, x.dim(2)};
}

/// AttentionStatistics in memory of their own.
struct Statistics {
  explicit Statistics(const cpu::AttentionShape& shape)
      : greatest(Tensor::empty({shape.samples, shape.heads, shape.queries})),
        inverse_sum(Tensor::empty(greatest.shape())) {}
  cpu::AttentionStatistics data() const { return {greatest.data<float>(), inverse_sum.data<float>()}; }
  Tensor greatest;
  Tensor inverse_sum;
};

cpu::AttentionShape check_operands(const Tensor& q, const Tensor& k, const Tensor& v,
                                   const AttentionOptions& options) {
  for (const Tensor& x : {q, k, v}) {
    check_float(kName, x);
    check_cpu(kName, x);
    check(x.dtype() == q.dtype(), kName, "expected operands of one type, got ", q.dtype(), " and ",
          x.dtype());
  }
  const auto shapes = [&] { return to_text("q ", q.shape(), ", k ", k.shape(), ", v ", v.shape()); };
  check(q.ndim() == 4 && k.ndim() == 4 && k.shape() == v.shape() && q.dim(0) == k.dim(0) &&
            q.dim(1) == k.dim(1) && q.dim(3) == k.dim(3),
        kName, "expected q [n, heads, t, d], k and v [n, heads, s, d], got ", shapes());
  check(q.count() > 0 && k.count() > 0, kName, "nothing to attend to: ", shapes());
  check(!options.causal || q.dim(2) == k.dim(2), kName, "causal: expected as many queries as keys, got ",
        shapes());
  return {q.dim(0), q.dim(1), q.dim(2), k.dim(2), q.dim(3), options.causal, scale_of(options, q.dim(3))};
}

cpu::AttentionShape check_packed(const Tensor& qkv, int64_t heads, const AttentionOptions& options) {
  check_float(kSelfName, qkv);
  check_cpu(kSelfName, qkv);
  check(heads > 0 && qkv.ndim() == 3 && qkv.count() > 0 && qkv.dim(2) % (3 * heads) == 0, kSelfName,
        "expected qkv [n, t, 3 width] with a width of ", heads, " equal heads, got ", qkv.shape());
  const int64_t width = qkv.dim(2) / (3 * heads);
  return {qkv.dim(0), heads, qkv.dim(1), qkv.dim(1), width, options.causal, scale_of(options, width)};
}

/// Two matrix products per head; of the causal ones only the half that counts.
double operations_of(const cpu::AttentionShape& shape) {
  const int64_t pairs = shape.samples * shape.heads * shape.queries * shape.keys;
  return (shape.causal ? 2.0 : 4.0) * static_cast<double>(pairs * shape.width);
}

}  // namespace

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options) {
  const cpu::AttentionShape shape = check_operands(q, k, v, options);
  if (q.dtype() == DType::kBF16) {
    return cast(attention(cast(q, DType::kF32), cast(k, DType::kF32), cast(v, DType::kF32), options),
                q.dtype());
  }
  profile::Span span(kName);
  const SavedTensor saved_q(with_dense_rows(q), kName);
  const SavedTensor saved_k(with_dense_rows(k), kName);
  const SavedTensor saved_v(with_dense_rows(v), kName);
  const auto inputs = [saved_q, saved_k, saved_v] {
    return cpu::AttentionInputs{heads_of(saved_q.get()), heads_of(saved_k.get()), heads_of(saved_v.get())};
  };
  const Tensor output = Tensor::empty(q.shape());
  const Statistics statistics(shape);
  cpu::attention(shape, inputs(), heads_of(output), statistics.data());
  const double operations = operations_of(shape);
  span.set_operations(operations, {operations, operations / 2, operations / 2});  // the scores' with q's
  return record(
      kName, output, {q, k, v},
      [shape, inputs, statistics, saved_output = SavedTensor(output, kName)](BackwardContext& context) {
        const Tensor grad = with_dense_rows(context.grad());
        const Tensor gradients[] = {context.destination(0), context.destination(1), context.destination(2)};
        cpu::attention_gradient(shape, inputs(), heads_of(saved_output.get()), statistics.data(),
                                heads_of(grad),
                                {heads_of(gradients[0]), heads_of(gradients[1]), heads_of(gradients[2])});
        for (int i = 0; i < 3; ++i) {
          if (context.needs(i)) context.add(i, gradients[i]);
        }
      });
}

Tensor self_attention(const Tensor& qkv, int64_t heads, const AttentionOptions& options) {
  const cpu::AttentionShape shape = check_packed(qkv, heads, options);
  if (qkv.dtype() == DType::kBF16) {
    return cast(self_attention(cast(qkv, DType::kF32), heads, options), qkv.dtype());
  }
  profile::Span span(kSelfName);
  const Tensor packed = plain_contiguous(qkv);
  const Tensor output = Tensor::empty({shape.samples, shape.queries, shape.heads * shape.width});
  const Statistics statistics(shape);
  cpu::attention(shape, parts_of(packed, shape), merged_heads(output, shape), statistics.data());
  span.set_operations(operations_of(shape), {2 * operations_of(shape)});
  return record(kSelfName, output, {qkv},
                [shape, statistics, saved = SavedTensor(packed, kSelfName),
                 saved_output = SavedTensor(output, kSelfName)](BackwardContext& context) {
                  const Tensor grad = plain_contiguous(context.grad());
                  const Tensor gradient = context.destination(0);
                  cpu::attention_gradient(shape, parts_of(saved.get(), shape),
                                          merged_heads(saved_output.get(), shape), statistics.data(),
                                          merged_heads(grad, shape), parts_of(gradient, shape));
                  context.add(0, gradient);
                });
}

}  // namespace lockstep::ops
