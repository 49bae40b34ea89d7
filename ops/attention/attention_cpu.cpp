#include <omp.h>

#include <algorithm>
#include <atomic>
#include <optional>

#include "ops/attention/attention_kernels.h"
#include "ops/cpu/onednn.h"
#include "ops/elementwise/scalar_math.h"
#include "ops/softmax/row.h"
#include "runtime/error.h"
#include "runtime/threads.h"
#include "runtime/wide_vectors.h"

namespace lockstep::ops::cpu {
namespace {

/// Queries whose scores are in memory at a time: enough for the products to be fast, few enough for the
/// scores of a thousand keys to stay in a core's second-level cache.
constexpr int64_t kBlock = 64;

struct Matrix {
  float* data;
  int64_t stride;  // of rows
};

/// The rows of one head of one sample.
Matrix matrix_of(const Heads& heads, int64_t sample, int64_t head) {
  return {heads.data + sample * heads.sample_stride + head * heads.head_stride, heads.row_stride};
}
Matrix from_row(const Matrix& matrix, int64_t row) {
  return {matrix.data + row * matrix.stride, matrix.stride};
}

enum class Transposed { kNeither, kLeft, kRight };

struct Product {
  int64_t rows;
  int64_t columns;
  int64_t inner;
  Transposed transposed = Transposed::kNeither;
  float scale = 1;
  bool accumulate = false;
};

/// c (+)= scale a b, on the calling thread. Throws nothing: a refusal is noted.
class Products {
 public:
  void operator()(const Product& p, const Matrix& a, const Matrix& b, const Matrix& c) {
    const dnnl::status status =
        dnnl::sgemm(p.transposed == Transposed::kLeft ? 'T' : 'N',
                    p.transposed == Transposed::kRight ? 'T' : 'N', p.rows, p.columns, p.inner, p.scale,
                    a.data, a.stride, b.data, b.stride, p.accumulate ? 1.0F : 0.0F, c.data, c.stride);
    if (status != dnnl::status::success) refused_ = true;
  }
  /// After the parallel part: throws Error if one of them failed.
  void finish() const { ensure(!refused_, "attention", "oneDNN refused a product"); }

 private:
  std::atomic<bool> refused_ = false;
};

/// Some queries of one head, and the keys that they attend to.
struct Block {
  int64_t first;
  int64_t rows;
  int64_t keys;
};

int64_t block_count(const AttentionShape& shape) {
  return (shape.queries + kBlock - 1) / kBlock;
}

Block block_of(const AttentionShape& shape, int64_t index) {
  const int64_t first = index * kBlock;
  const int64_t rows = std::min(kBlock, shape.queries - first);
  return {first, rows, shape.causal ? first + rows : shape.keys};
}

/// How many of the block's keys its query `row` attends to.
int64_t visible_keys(const AttentionShape& shape, const Block& block, int64_t row) {
  return shape.causal ? block.first + row + 1 : block.keys;
}

/// scores[i] = exp(scores[i] - greatest) for the visible keys, 0 for the others.
void exponentiate(float* scores, int64_t visible, int64_t keys, float greatest) {
  with_wide_vectors([=] {
    for (int64_t i = 0; i < visible; ++i) scores[i] = exponential(scores[i] - greatest);
  });
  std::fill(scores + visible, scores + keys, 0.0F);
}

/// The operands of one head.
struct Head {
  Matrix q, k, v, output;
  float* greatest;
  float* inverse_sum;
};

Head head_of(const AttentionShape& shape, const AttentionInputs& inputs, const Heads& output,
             const AttentionStatistics& statistics, int64_t index) {
  const int64_t sample = index / shape.heads;
  const int64_t head = index % shape.heads;
  return {matrix_of(inputs.q, sample, head),           matrix_of(inputs.k, sample, head),
          matrix_of(inputs.v, sample, head),           matrix_of(output, sample, head),
          statistics.greatest + index * shape.queries, statistics.inverse_sum + index * shape.queries};
}

void compute_scores(const AttentionShape& shape, const Block& block, const Head& head, Products& products,
                    const Matrix& scores) {
  products({block.rows, block.keys, shape.width, Transposed::kRight, shape.scale},
           from_row(head.q, block.first), head.k, scores);
}

void forward_block(const AttentionShape& shape, const Block& block, const Head& head, Products& products,
                   const Matrix& scores) {
  compute_scores(shape, block, head, products, scores);
  for (int64_t row = 0; row < block.rows; ++row) {
    float* x = from_row(scores, row).data;
    const int64_t visible = visible_keys(shape, block, row);
    const float greatest = greatest_of(x, visible);
    exponentiate(x, visible, block.keys, greatest);
    head.greatest[block.first + row] = greatest;
    head.inverse_sum[block.first + row] =
        static_cast<float>(1 / row_sum(visible, [=](int64_t i) { return x[i]; }));
  }
  const Matrix output = from_row(head.output, block.first);
  products({block.rows, shape.width, block.keys}, scores, head.v, output);
  for (int64_t row = 0; row < block.rows; ++row) {  // fewer elements than the probabilities have
    float* y = from_row(output, row).data;
    for (int64_t i = 0; i < shape.width; ++i) y[i] *= head.inverse_sum[block.first + row];
  }
}

/// The gradients of one head, of its output and of its inputs.
struct HeadGradients {
  Matrix output, q, k, v;
};

void backward_block(const AttentionShape& shape, const Block& block, const Head& head,
                    const HeadGradients& gradients, Products& products, const Matrix& probabilities,
                    const Matrix& slopes) {
  const int64_t keys = block.keys;
  const bool accumulate = block.first + block.rows < shape.queries;  // the last block is the first to run
  const Matrix grad = from_row(gradients.output, block.first);
  const Matrix output = from_row(head.output, block.first);
  compute_scores(shape, block, head, products, probabilities);
  products({block.rows, keys, shape.width, Transposed::kRight}, grad, head.v, slopes);
  for (int64_t row = 0; row < block.rows; ++row) {
    float* p = from_row(probabilities, row).data;
    float* slope = from_row(slopes, row).data;
    exponentiate(p, visible_keys(shape, block, row), keys, head.greatest[block.first + row]);
    const float inverse_sum = head.inverse_sum[block.first + row];
    const float* dy = from_row(grad, row).data;
    const float* y = from_row(output, row).data;
    // sum_j p_j dp_j, as the output is sum_j p_j v_j
    const auto mean = static_cast<float>(row_sum(shape.width, [=](int64_t i) { return y[i] * dy[i]; }));
    for (int64_t i = 0; i < keys; ++i) {
      p[i] *= inverse_sum;
      slope[i] = p[i] * (slope[i] - mean) * shape.scale;
    }
  }
  products({keys, shape.width, block.rows, Transposed::kLeft, 1, accumulate}, probabilities, grad,
           gradients.v);
  products({block.rows, shape.width, keys}, slopes, head.k, from_row(gradients.q, block.first));
  products({keys, shape.width, block.rows, Transposed::kLeft, 1, accumulate}, slopes,
           from_row(head.q, block.first), gradients.k);
}

/// While it lives, the calling thread is a team of its own. The threads of the other team stay: what would
/// end them is a parallel region with another number.
class SingleThread {
 public:
  SingleThread() : team_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~SingleThread() { omp_set_num_threads(team_); }
  SingleThread(const SingleThread&) = delete;
  SingleThread& operator=(const SingleThread&) = delete;

 private:
  int team_;
};

/// Calls body(begin, end) for parts of all heads of all samples, each on one thread. A single head is no
/// exception: a product that a team computes may be added up in another order.
template <class Body>
void share_heads(const AttentionShape& shape, const Body& body) {
  const int64_t heads = shape.samples * shape.heads;
  std::optional<SingleThread> alone;
  if (heads == 1) alone.emplace();
  parallel_for(heads, 1, body);
}

}  // namespace

void attention(const AttentionShape& shape, const AttentionInputs& inputs, const Heads& output,
               const AttentionStatistics& statistics) {
  Products products;
  share_heads(shape, [&](int64_t begin, int64_t end) {
    const Tensor scores = Tensor::empty({kBlock, shape.keys});
    for (int64_t index = begin; index < end; ++index) {
      const Head head = head_of(shape, inputs, output, statistics, index);
      for (int64_t i = 0; i < block_count(shape); ++i) {
        const Block block = block_of(shape, i);
        forward_block(shape, block, head, products, {scores.data<float>(), block.keys});
      }
    }
  });
  products.finish();
}

void attention_gradient(const AttentionShape& shape, const AttentionInputs& inputs, const Heads& output,
                        const AttentionStatistics& statistics, const Heads& grad,
                        const AttentionInputs& result) {
  Products products;
  share_heads(shape, [&](int64_t begin, int64_t end) {
    const Tensor probabilities = Tensor::empty({kBlock, shape.keys});
    const Tensor slopes = Tensor::empty({kBlock, shape.keys});
    for (int64_t index = begin; index < end; ++index) {
      const Head head = head_of(shape, inputs, output, statistics, index);
      const int64_t sample = index / shape.heads;
      const int64_t number = index % shape.heads;
      const HeadGradients gradients{matrix_of(grad, sample, number), matrix_of(result.q, sample, number),
                                    matrix_of(result.k, sample, number), matrix_of(result.v, sample, number)};
      // From the last block, which reaches every key: it writes what the others add to.
      for (int64_t i = block_count(shape); i-- > 0;) {
        const Block block = block_of(shape, i);
        backward_block(shape, block, head, gradients, products, {probabilities.data<float>(), block.keys},
                       {slopes.data<float>(), block.keys});
      }
    }
  });
  products.finish();
}

}  // namespace lockstep::ops::cpu
