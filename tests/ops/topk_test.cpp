#include "ops/topk/topk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "runtime/autograd.h"
#include "runtime/threads.h"
#include "tests/ops/op_rows.h"
#include "tests/support/expect_error.h"
#include "tests/support/padded_layout.h"

namespace lockstep::ops {
namespace {

using test::Array;
using test::OpCase;

size_t index_of(int dim, const Shape& shape) {
  return static_cast<size_t>(dim < 0 ? dim + shape.ndim() : dim);
}

/// The elements of the line along `dim` that goes through `index`.
std::vector<double> line_through(const Array& x, std::vector<int64_t> index, size_t dim) {
  std::vector<double> line;
  for (index[dim] = 0; index[dim] < x.shape[static_cast<int>(dim)]; ++index[dim]) line.push_back(x.at(index));
  return line;
}

OpCase topk_case(const Shape& shape, int64_t k, int dim) {
  return {.name = to_text("topk of ", k, " from ", shape, " along ", dim),
          .inputs = {test::random_array(shape, 1, -100, 100)},
          .run = [=](const std::vector<Tensor>& x) { return topk(x[0], k, dim).values; },
          .reference =
              [=](const std::vector<Array>& x) {
                const size_t d = index_of(dim, shape);
                Shape picked = shape;
                picked[dim] = k;
                Array result = test::full(picked, 0);
                test::for_each_index(picked, [&](const std::vector<int64_t>& index) {
                  std::vector<double> line = line_through(x[0], index, d);
                  std::ranges::sort(line, std::greater<>());
                  result.at(index) = line[static_cast<size_t>(index[d])];
                });
                return result;
              },
          .value_tolerance = 0};
}

OpCase argmax_case(const Shape& shape, int dim) {
  return {.name = to_text("argmax of ", shape, " along ", dim),
          .inputs = {test::map(test::random_array(shape, 2, 0, 5), [](double x) { return std::floor(x); })},
          .run = [=](const std::vector<Tensor>& x) { return argmax(x[0], dim); },
          .reference =
              [=](const std::vector<Array>& x) {
                const size_t d = index_of(dim, shape);
                Shape kept;
                for (int i = 0; i < shape.ndim(); ++i) {
                  if (i != static_cast<int>(d)) kept.push_back(shape[i]);
                }
                Array result = test::full(kept, 0);
                test::for_each_index(kept, [&](const std::vector<int64_t>& index) {
                  std::vector<int64_t> start = index;
                  start.insert(start.begin() + static_cast<int64_t>(d), 0);
                  const std::vector<double> line = line_through(x[0], start, d);
                  result.at(index) = static_cast<double>(std::ranges::max_element(line) - line.begin());
                });
                return result;
              },
          .value_tolerance = 0};
}

TEST(Topk, ValuesAndGradients) {
  for (const int64_t k : {0, 1, 3, 7}) test::check_op(topk_case({7}, k, 0));
  test::check_op(topk_case({3, 6}, 2, 1));
  test::check_op(topk_case({3, 6}, 2, 0));
  test::check_op(topk_case({2, 5, 3}, 4, -2));
  test::check_op(topk_case({0, 3}, 2, 1));
}

TEST(Topk, IndicesSayWhereTheValuesAre) {
  const Array values = test::random_array({4, 9, 3}, 5);
  const TopkResult result = topk(test::to_strided_tensor(values), 3, 1);
  const Array places = test::to_array(result.indices);
  EXPECT_EQ(result.indices.dtype(), DType::kI64);
  test::for_each_index(places.shape, [&](const std::vector<int64_t>& index) {
    std::vector<int64_t> source = index;
    source[1] = static_cast<int64_t>(places.at(index));
    EXPECT_EQ(test::to_array(result.values).at(index), values.at(source));
  });
}

TEST(Topk, EqualElementsComeInTheOrderOfTheirIndices) {
  Tensor x = Tensor::from<float>({2, 5, 2, 5, 1, 2}, {6});
  x.set_requires_grad(true);
  const TopkResult result = topk(x, 4);
  EXPECT_EQ(result.values.to_vector<float>(), (std::vector<float>{5, 5, 2, 2}));
  EXPECT_EQ(result.indices.to_vector<int64_t>(), (std::vector<int64_t>{1, 3, 0, 2}));
  EXPECT_FALSE(result.indices.requires_grad());
  backward(result.values, {.seed = Tensor::from<float>({1, 2, 3, 4}, {4}), .between_nodes = {}});
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{3, 1, 4, 2, 0, 0}));
}

TEST(Topk, NanIsTheGreatest) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor x = Tensor::from<float>({1, nan, inf, nan}, {4});
  EXPECT_EQ(topk(x, 4).indices.to_vector<int64_t>(), (std::vector<int64_t>{1, 3, 2, 0}));
  EXPECT_EQ(argmax(x).item(), 1);
}

TEST(Topk, ArgmaxTakesTheFirstOfEquals) {
  for (const int dim : {0, 1, 2, -1}) test::check_values(argmax_case({3, 8, 5}, dim));
  test::check_values(argmax_case({6}, 0));
  EXPECT_EQ(argmax(Tensor::from<float>({1, 3, 3}, {3})).item(), 1);
  EXPECT_EQ(argmax(test::padded_tensor({1, 2, 4, 3}, {2, 2})).to_vector<int64_t>(),
            (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(argmax(Tensor::zeros({0, 3})).shape(), Shape{0});
}

TEST(Topk, SameOnAnyNumberOfThreads) {
  const Tensor x = test::to_tensor(test::random_array({300, 100}, 7));
  configure_compute_threads(1);
  const std::vector<int64_t> one = topk(x, 5).indices.to_vector<int64_t>();
  configure_compute_threads(3);
  EXPECT_EQ(topk(x, 5).indices.to_vector<int64_t>(), one);
  configure_compute_threads(allowed_cores());
}

TEST(Topk, ErrorsNameShapes) {
  const Tensor x = Tensor::zeros({2, 3});
  test::expect_error<InvalidArgument>([&] { topk(x, 4); },
                                      "[topk] cannot take 4 elements of dimension -1 of shape [2, 3]");
  test::expect_error<InvalidArgument>([&] { topk(x, -1); }, "[topk] cannot take -1 elements");
  test::expect_error<InvalidArgument>([&] { topk(x, 1, 2); }, "[topk] dimension 2 is outside shape [2, 3]");
  test::expect_error<InvalidArgument>(
      [] {
        argmax(Tensor::zeros({3, 0}));
      },
      "[argmax] dimension -1 of shape [3, 0] has no elements");
  test::expect_error<InvalidArgument>([&] { argmax(x, -3); }, "[argmax] dimension -3 is outside shape");
  test::expect_error<InvalidArgument>([] { argmax(Tensor::zeros({3}, DType::kI64)); }, "expected f32");
}

}  // namespace

test::OpRows topk_rows() {
  return {{.name = "argmax",
           .checked = argmax_case({3, 8, 5}, 1),
           .timed =
               [] {
                 return argmax_case({4096, 1000}, -1);
               }},
          {.name = "topk", .checked = topk_case({2, 5, 3}, 4, -2), .timed = [] {
             return topk_case({4096, 1000}, 5, -1);
           }}};
}

}  // namespace lockstep::ops
