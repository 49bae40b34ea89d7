#include "ops/embedding/embedding.h"

#include <gtest/gtest.h>

#include <thread>

#include "runtime/autograd.h"
#include "runtime/rng.h"
#include "runtime/threads.h"
#include "tests/ops/op_rows.h"
#include "tests/support/expect_error.h"

namespace lockstep::ops {
namespace {

using test::Array;

Tensor indices_of(const std::vector<int64_t>& values, const Shape& shape) {
  return Tensor::from(values, shape);
}

/// Draws the indices.
test::OpCase op_case(int64_t table_rows, int64_t width, const Shape& shape) {
  std::vector<int64_t> values(static_cast<size_t>(shape.count()));
  const RandomStream stream(1, Purpose::kTest, 0, 0);
  for (size_t i = 0; i < values.size(); ++i) values[i] = stream.below(i, static_cast<uint32_t>(table_rows));
  return {.name = to_text("embedding of indices ", shape),
          .inputs = {test::random_array({table_rows, width}, 1)},
          .run = [=](const std::vector<Tensor>& x) { return embedding(x[0], indices_of(values, shape)); },
          .reference =
              [=](const std::vector<Array>& x) {
                Shape result = shape;
                result.push_back(width);
                Array y = test::full(result, 0);
                for (int64_t i = 0; i < y.count(); ++i) {
                  y[i] = x[0].at({values[static_cast<size_t>(i / width)], i % width});
                }
                return y;
              },
          .value_tolerance = 0};
}

TEST(Embedding, ValuesAndGradients) {
  for (const Shape& shape : {Shape{9}, Shape{2, 3}, Shape{3, 1, 2}}) test::check_op(op_case(5, 7, shape));
}

TEST(Embedding, IndicesMayBeAScalarNothingOrStrided) {
  const Tensor table = Tensor::from<float>({0, 1, 10, 11, 20, 21}, {3, 2});
  EXPECT_EQ(embedding(table, indices_of({2}, {})).to_vector<float>(), (std::vector<float>{20, 21}));
  EXPECT_EQ(embedding(table, indices_of({}, {4, 0})).shape(), (Shape{4, 0, 2}));
  const Tensor column = indices_of({0, 9, 2, 9}, {2, 2}).narrow(1, 0, 1);
  EXPECT_EQ(embedding(table, column).to_vector<float>(), (std::vector<float>{0, 1, 20, 21}));
}

// 2^24 + 1 + 1 is 2^24 or 2^24 + 2: the order of additions shows.
TEST(Embedding, AddsGradientsInTheOrderOfPositions) {
  constexpr float kLarge = 0x1p24F;
  Tensor table = Tensor::zeros({2, 1});
  table.set_requires_grad(true);
  const auto gradient = [&](const std::vector<float>& seed) {
    table.leaf_gradient().clear();
    backward(embedding(table, indices_of({1, 0, 1, 1}, {4})),
             {.seed = Tensor::from(seed, {4, 1}), .between_nodes = {}});
    return table.grad().to_vector<float>();
  };
  EXPECT_EQ(gradient({kLarge, 5, 1, 1}), (std::vector<float>{5, kLarge}));
  EXPECT_EQ(gradient({1, 5, 1, kLarge}), (std::vector<float>{5, kLarge + 2}));
}

TEST(Embedding, AddsItsRowsToWhatTheTableGotAlready) {
  Tensor table = Tensor::zeros({3, 2});
  table.set_requires_grad(true);
  const Tensor view = Tensor::full({3, 2}, 9);
  table.leaf_gradient().bind(view);
  const auto run = [&] {
    backward(embedding(table, indices_of({2, 0, 2}, {3})),
             {.seed = Tensor::from<float>({1, 2, 10, 20, 100, 200}, {3, 2}), .between_nodes = {}});
  };
  run();
  EXPECT_EQ(view.to_vector<float>(), (std::vector<float>{10, 20, 0, 0, 101, 202}));
  run();
  EXPECT_EQ(view.to_vector<float>(), (std::vector<float>{20, 40, 0, 0, 202, 404}));
}

TEST(Embedding, GivesRowsInBf16AndAddsTheirGradientsInF32) {
  Tensor table = Tensor::from<float>({1, 257, 2, 3}, {2, 2});
  table.set_requires_grad(true);
  const Tensor rows = embedding(table, indices_of({0, 1, 0}, {3}), DType::kBF16);
  EXPECT_EQ(rows.dtype(), DType::kBF16);
  EXPECT_EQ(test::to_array(rows).values, (std::vector<double>{1, 256, 2, 3, 1, 256})) << "257 is halfway";
  const Tensor seed = test::to_tensor({{3, 2}, {256, 1, 5, 5, 1, 1}}, DType::kBF16);
  backward(rows, {.seed = seed, .between_nodes = {}});
  EXPECT_EQ(table.grad().to_vector<float>(), (std::vector<float>{257, 2, 5, 5}));
  EXPECT_THROW(embedding(table, indices_of({0}, {1}), DType::kF16), InvalidArgument);
}

TEST(Embedding, GivesTheSameBitsForAnyNumberOfThreads) {
  const int64_t count = 3000;
  std::vector<int64_t> values(static_cast<size_t>(count));
  const RandomStream stream(1, Purpose::kTest, 0, 0);
  for (size_t i = 0; i < values.size(); ++i) values[i] = stream.below(i, 1000) * stream.below(i, 2) + 7;
  const Tensor seed = test::to_tensor(test::random_array({count, 64}, 2));
  const auto gradient = [&](int threads) {
    Tensor table = Tensor::zeros({1010, 64});
    table.set_requires_grad(true);
    std::thread([&] {  // the team belongs to the thread that asked for it
      configure_compute_threads(threads);
      backward(embedding(table, indices_of(values, {count})), {.seed = seed, .between_nodes = {}});
    })
        .join();
    return table.grad().to_vector<float>();
  };
  const std::vector<float> expected = gradient(1);
  for (const int threads : {2, 3, 5}) EXPECT_EQ(gradient(threads), expected) << threads << " threads";
}

TEST(Embedding, ErrorsNamePositionValueAndRange) {
  const Tensor table = Tensor::zeros({3, 2});
  test::expect_error<InvalidArgument>(
      [&] {
        embedding(table, indices_of({0, 1, 2, 3}, {2, 2}));
      },
      "[embedding] index 3 of shape [2, 2] is 3: expected one in [0, 3)");
  test::expect_error<InvalidArgument>([&] { embedding(table, indices_of({-1}, {1})); },
                                      "is -1: expected one");
  test::expect_error<InvalidArgument>([&] { embedding(table, Tensor::zeros({2})); },
                                      "expected i64 indices, got f32 of shape [2]");
  test::expect_error<InvalidArgument>([&] { embedding(Tensor::zeros({3}), indices_of({0}, {1})); },
                                      "expected a table [v, c], got [3]");
}

}  // namespace

test::OpRows embedding_rows() {
  return {{.name = "embedding", .checked = op_case(5, 7, {2, 3}), .timed = [] {
             return op_case(8192, 768, {4, 1024});
           }}};
}

}  // namespace lockstep::ops
