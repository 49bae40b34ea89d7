#include "ops/attention/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>
#include <utility>

#include "ops/elementwise/elementwise.h"
#include "ops/matmul/matmul.h"
#include "ops/reshape/reshape.h"
#include "ops/softmax/softmax.h"
#include "runtime/autograd.h"
#include "runtime/threads.h"
#include "tests/ops/op_rows.h"
#include "tests/support/expect_error.h"

namespace lockstep::ops {
namespace {

using test::Array;

Array reference(const Array& q, const Array& k, const Array& v, bool causal, double scale) {
  Array y = test::full(q.shape, 0);
  const int64_t width = q.shape[3];
  test::for_each_index({q.shape[0], q.shape[1], q.shape[2]}, [&](const std::vector<int64_t>& query) {
    const int64_t keys = causal ? query[2] + 1 : k.shape[2];
    std::vector<double> weights(static_cast<size_t>(keys));
    double sum = 0;
    for (int64_t j = 0; j < keys; ++j) {
      double score = 0;
      for (int64_t c = 0; c < width; ++c) {
        score += q.at({query[0], query[1], query[2], c}) * k.at({query[0], query[1], j, c});
      }
      sum += weights[static_cast<size_t>(j)] = std::exp(scale * score);
    }
    for (int64_t j = 0; j < keys; ++j) {
      for (int64_t c = 0; c < width; ++c) {
        y.at({query[0], query[1], query[2], c}) +=
            weights[static_cast<size_t>(j)] / sum * v.at({query[0], query[1], j, c});
      }
    }
  });
  return y;
}

test::OpCase op_case(const Shape& q, int64_t keys, const AttentionOptions& options) {
  const Shape k{q[0], q[1], keys, q[3]};
  const double scale = options.scale == 0 ? 1 / std::sqrt(static_cast<double>(q[3])) : options.scale;
  return {
      .name = to_text("attention of ", q, " to ", k, options.causal ? ", causal" : ""),
      .inputs = {test::random_array(q, 1, -2, 2), test::random_array(k, 2, -2, 2),
                 test::random_array(k, 3, -2, 2)},
      .run = [=](const std::vector<Tensor>& x) { return attention(x[0], x[1], x[2], options); },
      .reference =
          [=](const std::vector<Array>& x) { return reference(x[0], x[1], x[2], options.causal, scale); }};
}

TEST(Attention, ValuesAndGradients) {
  for (const bool causal : {false, true}) {
    test::check_op(op_case({2, 2, 5, 3}, 5, {.causal = causal}));
    test::check_op(op_case({1, 1, 1, 1}, 1, {.causal = causal}));
    test::check_op(op_case({1, 3, 4, 5}, 4, {.causal = causal, .scale = 0.7}));
  }
  test::check_op(op_case({1, 2, 3, 4}, 7, {}));
  test::check_op(op_case({2, 1, 6, 2}, 1, {.scale = -1}));
}

// Several blocks of queries, the last one short, and rows longer than the lanes of a reduction.
TEST(Attention, LongSequencesAgreeWithTheirParts) {
  for (const bool causal : {false, true}) {
    const int64_t t = 150;
    const Shape shape{1, 2, t, 8};
    std::vector<Tensor> x;
    std::vector<Tensor> y;
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      for (auto* inputs : {&x, &y}) {
        inputs->push_back(test::to_tensor(test::random_array(shape, seed, -2, 2)));
        inputs->back().set_requires_grad(true);
      }
    }
    Tensor mask = Tensor::zeros({t, t});
    for (int64_t i = 0; i < t; ++i) {
      for (int64_t j = i + 1; causal && j < t; ++j) mask.data<float>()[i * t + j] = -1e30F;
    }
    const auto batch = [&](const Tensor& heads) { return reshape(heads, {2, t, 8}); };
    const Tensor scores = scale(matmul(batch(y[0]), batch(y[1]), {.transpose_b = true}), 1 / std::sqrt(8.0));
    const Tensor expected = reshape(matmul(softmax(add(scores, mask)), batch(y[2])), shape);
    const Tensor got = attention(x[0], x[1], x[2], {.causal = causal});
    test::expect_near(test::to_array(got.detach()), test::to_array(expected.detach()), 1e-5, "output");
    const Tensor seed = test::to_tensor(test::random_array(shape, 9));
    backward(got, {.seed = seed, .between_nodes = {}});
    backward(expected, {.seed = seed, .between_nodes = {}});
    for (size_t i = 0; i < 3; ++i) {
      test::expect_near(test::to_array(x[i].grad()), test::to_array(y[i].grad()), 1e-5,
                        to_text("gradient of input ", i));
    }
  }
}

TEST(Attention, TheFutureHasNoInfluence) {
  Array k = test::random_array({1, 1, 70, 4}, 2);
  const Tensor q = test::to_tensor(test::random_array({1, 1, 70, 4}, 1));
  const auto first_rows = [&] {
    const Tensor x = test::to_tensor(k);
    return attention(q, x, x, {.causal = true}).narrow(2, 0, 65).to_vector<float>();
  };
  const std::vector<float> before = first_rows();
  for (int64_t c = 0; c < 4; ++c) k.at({0, 0, 65, c}) += 5;
  EXPECT_EQ(first_rows(), before);
}

TEST(Attention, GivesTheSameBitsForAnyNumberOfThreads) {
  const auto run = [](int threads, int64_t length, int64_t heads) {
    std::vector<float> bits;
    std::thread([&] {  // the team belongs to the thread that asked for it
      configure_compute_threads(threads);
      Tensor x = test::to_tensor(test::random_array({1, length, 3 * heads * 16}, 1, -2, 2));
      x.set_requires_grad(true);
      const Tensor y = self_attention(x, heads, {.causal = true});
      bits = y.to_vector<float>();
      backward(y, {.seed = Tensor::full(y.shape(), 1), .between_nodes = {}});
      const std::vector<float> gradient = x.grad().to_vector<float>();
      bits.insert(bits.end(), gradient.begin(), gradient.end());
    })
        .join();
    return bits;
  };
  for (const auto& [length, heads] : {std::pair(130, 5), {1025, 1}, {64, 1}}) {
    const std::vector<float> expected = run(1, length, heads);
    for (const int threads : {2, 3, 5}) {
      EXPECT_TRUE(run(threads, length, heads) == expected)
          << threads << " threads, " << length << " positions, " << heads << " heads";
    }
  }
}

TEST(Attention, LargeScoresAreStable) {
  const Tensor q = Tensor::from<float>({1000, 1000}, {1, 1, 2, 1});
  const Tensor k = Tensor::from<float>({1000, -1000}, {1, 1, 2, 1});
  const Tensor v = Tensor::from<float>({3, 5}, {1, 1, 2, 1});
  EXPECT_EQ(attention(q, k, v).to_vector<float>(), (std::vector<float>{3, 3}));
}

TEST(Attention, OneTensorInEveryRole) {
  Tensor x = test::to_tensor(test::random_array({1, 2, 4, 3}, 1));
  std::vector<Tensor> parts;
  for (int i = 0; i < 3; ++i) {
    parts.push_back(x.clone());
    parts.back().set_requires_grad(true);
  }
  x.set_requires_grad(true);
  const Tensor seed = Tensor::full(x.shape(), 1);
  backward(attention(x, x, x), {.seed = seed, .between_nodes = {}});
  backward(attention(parts[0], parts[1], parts[2]), {.seed = seed, .between_nodes = {}});
  const NoGrad no_grad;
  const Tensor sum = add(add(parts[0].grad(), parts[1].grad()), parts[2].grad());
  EXPECT_EQ(x.grad().to_vector<float>(), sum.to_vector<float>());
}

/// A part of qkv [n, t, 3 heads width] as [n, heads, t, width].
Array unpack(const Array& qkv, int64_t heads, int64_t part) {
  const int64_t width = qkv.shape[2] / (3 * heads);
  Array result = test::full({qkv.shape[0], heads, qkv.shape[1], width}, 0);
  test::for_each_index(result.shape, [&](const std::vector<int64_t>& i) {
    result.at(i) = qkv.at({i[0], i[2], (part * heads + i[1]) * width + i[3]});
  });
  return result;
}

test::OpCase packed_case(int64_t samples, int64_t length, int64_t heads, int64_t width, bool causal) {
  return {
      .name = "self_attention",
      .inputs = {test::random_array({samples, length, 3 * heads * width}, 1, -2, 2)},
      .run = [=](const std::vector<Tensor>& x) { return self_attention(x[0], heads, {.causal = causal}); },
      .reference =
          [=](const std::vector<Array>& x) {
            const Array y = reference(unpack(x[0], heads, 0), unpack(x[0], heads, 1), unpack(x[0], heads, 2),
                                      causal, 1 / std::sqrt(static_cast<double>(width)));
            Array merged = test::full({samples, length, heads * width}, 0);
            test::for_each_index(y.shape, [&](const std::vector<int64_t>& i) {
              merged.at({i[0], i[2], i[1] * width + i[3]}) = y.at(i);
            });
            return merged;
          }};
}

TEST(SelfAttention, IsAttentionOnThePackedParts) {
  for (const bool causal : {false, true}) test::check_op(packed_case(2, 5, 2, 3, causal));
}

TEST(Attention, ErrorsNameTheShapes) {
  const auto call = [](const Shape& q, const Shape& k, const Shape& v, bool causal) {
    return [=] { attention(Tensor::zeros(q), Tensor::zeros(k), Tensor::zeros(v), {.causal = causal}); };
  };
  const Shape x{1, 2, 3, 4};
  test::expect_error<InvalidArgument>(
      call({2, 3, 4}, x, x, false),
      "[attention] expected q [n, heads, t, d], k and v [n, heads, s, d], got q "
      "[2, 3, 4], k [1, 2, 3, 4], v [1, 2, 3, 4]");
  test::expect_error<InvalidArgument>(call(x, x, {1, 2, 3, 5}, false), "v [1, 2, 3, 5]");
  test::expect_error<InvalidArgument>(call(x, {1, 2, 3, 5}, {1, 2, 3, 5}, false), "k [1, 2, 3, 5]");
  test::expect_error<InvalidArgument>(call(x, {1, 2, 0, 4}, {1, 2, 0, 4}, false), "nothing to attend to");
  test::expect_error<InvalidArgument>(call(x, {1, 2, 5, 4}, {1, 2, 5, 4}, true),
                                      "causal: expected as many queries as keys");
  test::expect_error<InvalidArgument>(
      [] {
        self_attention(Tensor::zeros({2, 3, 12}), 3);
      },
      "[self_attention] expected qkv [n, t, 3 width] with a width of 3 equal heads, "
      "got [2, 3, 12]");
}

}  // namespace

test::OpRows attention_rows() {
  // Two products of t x t x d per head; of the causal ones half.
  return {{.name = "attention",
           .checked = op_case({1, 2, 3, 4}, 7, {}),
           .timed =
               [] {
                 return op_case({4, 12, 512, 64}, 512, {});
               },
           .flops = 4.0 * 4 * 12 * 512 * 512 * 64},
          {.name = "self_attention",
           .checked = packed_case(2, 5, 2, 3, true),
           .timed = [] { return packed_case(1, 1024, 12, 64, true); },
           .flops = 2.0 * 12 * 1024 * 1024 * 64}};
}

}  // namespace lockstep::ops
