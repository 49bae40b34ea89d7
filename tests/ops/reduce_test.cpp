#include "ops/reduce/reduce.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/autograd.h"
#include "runtime/threads.h"
#include "tests/ops/op_rows.h"
#include "tests/support/padded_layout.h"

namespace lockstep::ops {
namespace {

using test::Array;

/// Combines all elements of `x` that fall on one element of the result, starting from `start`.
Array fold(const Array& x, const ReduceOptions& options, double start,
           const std::function<double(double, double)>& combine) {
  std::vector<bool> reduced(static_cast<size_t>(x.shape.ndim()), options.dims.empty());
  for (const int dim : options.dims)
    reduced[static_cast<size_t>(dim < 0 ? dim + x.shape.ndim() : dim)] = true;
  Shape kept;
  Shape result_shape;
  for (int dim = 0; dim < x.shape.ndim(); ++dim) {
    const bool gone = reduced[static_cast<size_t>(dim)];
    kept.push_back(gone ? 1 : x.shape[dim]);
    if (!gone || options.keep_dims) result_shape.push_back(gone ? 1 : x.shape[dim]);
  }
  Array result = test::full(kept, start);
  test::for_each_index(x.shape, [&](const std::vector<int64_t>& index) {
    std::vector<int64_t> target = index;
    for (size_t dim = 0; dim < target.size(); ++dim) target[dim] = reduced[dim] ? 0 : target[dim];
    result.at(target) = combine(result.at(target), x.at(index));
  });
  return {result_shape, result.values};
}

Array reference_sum(const Array& x, const ReduceOptions& options) {
  return fold(x, options, 0, [](double a, double b) { return a + b; });
}

Array reference_mean(const Array& x, const ReduceOptions& options) {
  const Array sums = reference_sum(x, options);
  const double share = static_cast<double>(sums.count()) / static_cast<double>(x.count());
  return test::map(sums, [share](double value) { return value * share; });
}

Array reference_max(const Array& x, const ReduceOptions& options) {
  return fold(x, options, -1e300, [](double a, double b) { return std::max(a, b); });
}

const std::vector<std::pair<Shape, std::vector<int>>> kReductions = {
    {{}, {}},
    {{7}, {}},
    {{7}, {0}},
    {{3, 4}, {0}},
    {{3, 4}, {1}},
    {{3, 4}, {-1}},
    {{3, 4}, {0, 1}},
    {{2, 3, 4}, {1}},
    {{2, 3, 4}, {0, 2}},
    {{2, 3, 4, 5}, {0, 2, 3}},
    {{2, 3, 4, 5}, {}},
    {{2, 3, 4, 5}, {1}},
    {{2, 1, 4}, {1}},
    {{2, 3, 4, 5}, {3, 1}},
    {{1, 1}, {0}},
};

struct Reducer {
  const char* name;
  Tensor (*run)(const Tensor&, const ReduceOptions&);
  Array (*reference)(const Array&, const ReduceOptions&);
};

constexpr Reducer kReducers[] = {
    {"sum", sum, reference_sum}, {"mean", mean, reference_mean}, {"max", max, reference_max}};

test::OpCase op_case(const Reducer& reducer, const Shape& shape, const ReduceOptions& options) {
  return {.name = to_text(reducer.name, " of ", shape),
          .inputs = {test::random_array(shape, 5)},
          .run = [=](const std::vector<Tensor>& x) { return reducer.run(x[0], options); },
          .reference = [=](const std::vector<Array>& x) { return reducer.reference(x[0], options); }};
}

TEST(Reduce, ValuesAndGradientsOfAllPatterns) {
  for (const Reducer& reducer : kReducers) {
    for (const auto& [shape, dims] : kReductions) {
      for (const bool keep_dims : {false, true}) {
        test::check_op(op_case(reducer, shape, {.dims = dims, .keep_dims = keep_dims}));
      }
    }
  }
}

TEST(Reduce, LongSumsAreRoundedOnce) {
  // In f32 the small terms would vanish beside 2^24.
  std::vector<float> values(20001, 0.5F);
  values[0] = 0x1p24F;
  EXPECT_EQ(sum(Tensor::from(values, {20001})).item(), 0x1p24 + 10000);
  EXPECT_EQ(sum(Tensor::from(values, {20001, 1}), {.dims = {0}}).item(), 0x1p24 + 10000);
}

TEST(Reduce, SameBitsOnAnyNumberOfThreads) {
  const Tensor x = test::to_tensor(test::random_array({3, 40001}, 6));
  const auto sums = [&] {
    std::vector<float> all = sum(x, {.dims = {1}}).to_vector<float>();
    const std::vector<float> columns = mean(x, {.dims = {0}}).to_vector<float>();
    all.insert(all.end(), columns.begin(), columns.end());
    all.push_back(static_cast<float>(sum(x).item()));
    return all;
  };
  configure_compute_threads(1);
  const std::vector<float> one = sums();
  configure_compute_threads(3);
  EXPECT_EQ(sums(), one);
  configure_compute_threads(allowed_cores());
}

TEST(Reduce, EmptyTensors) {
  EXPECT_EQ(sum(Tensor::zeros({0, 3})).item(), 0);
  EXPECT_EQ(sum(Tensor::zeros({0, 3}), {.dims = {0}}).to_vector<float>(), std::vector<float>(3, 0));
  EXPECT_EQ(sum(Tensor::zeros({0, 3}), {.dims = {1}}).shape(), Shape{0});
  EXPECT_EQ(mean(Tensor::zeros({0, 3}), {.dims = {1}}).shape(), Shape{0});
  EXPECT_THROW(mean(Tensor::zeros({0, 3})), InvalidArgument);
  EXPECT_THROW(max(Tensor::zeros({0, 3}), {.dims = {0}}), InvalidArgument);
}

TEST(Reduce, MaxTakesTheFirstOfEqualsAndNan) {
  Tensor x = Tensor::from<float>({1, 3, 3, 2}, {4});
  x.set_requires_grad(true);
  backward(max(x));
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{0, 1, 0, 0}));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(max(Tensor::from<float>({1, nan, 3}, {3})).item()));
  EXPECT_TRUE(std::isnan(sum(Tensor::from<float>({1, nan, 3}, {3})).item()));
}

TEST(Reduce, SumToUndoesABroadcast) {
  const Tensor x = Tensor::from<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_TRUE(sum_to(x, {2, 3}).same_memory(x));
  EXPECT_EQ(sum_to(x, {3}).to_vector<float>(), (std::vector<float>{5, 7, 9}));
  EXPECT_EQ(sum_to(x, {2, 1}).to_vector<float>(), (std::vector<float>{6, 15}));
  EXPECT_EQ(sum_to(x, {}).item(), 21);
  EXPECT_EQ(sum_to(Tensor::zeros({1, 1, 3}), {3}).shape(), Shape{3});
  EXPECT_THROW(sum_to(x, {2}), InvalidArgument);
  const Tensor opaque = test::padded_tensor({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(sum_to(opaque, {1, 3}).to_vector<float>(), (std::vector<float>{5, 7, 9}));
}

TEST(Reduce, WrongDimensionsAreRefused) {
  EXPECT_THROW(sum(Tensor::zeros({2, 3}), {.dims = {2}}), InvalidArgument);
  EXPECT_THROW(sum(Tensor::zeros({2, 3}), {.dims = {1, -1}}), InvalidArgument);
  EXPECT_THROW(sum(Tensor::zeros({2, 3}, DType::kI64)), InvalidArgument);
}

}  // namespace

test::OpRows reduce_rows() {
  test::OpRows rows;
  for (const Reducer& reducer : kReducers) {
    rows.push_back(
        {.name = reducer.name, .checked = op_case(reducer, {2, 3, 4, 5}, {.dims = {1}}), .timed = [reducer] {
           return op_case(reducer, {4096, 1024}, {.dims = {1}});
         }});
  }
  return rows;
}

}  // namespace lockstep::ops
