#include "ops/max_pool2d/max_pool2d.h"

#include <gtest/gtest.h>

#include <limits>

#include "ops/conv2d/conv2d.h"
#include "ops/cpu/onednn.h"
#include "runtime/autograd.h"
#include "tests/ops/op_rows.h"
#include "tests/support/expect_error.h"

namespace lockstep::ops {
namespace {

using test::Array;

Array reference_max_pool2d(const Array& x, const Pool2dOptions& options) {
  const int64_t stride = options.stride == 0 ? options.kernel : options.stride;
  const auto extent = [&](int dim) {
    return (x.shape[dim] + 2 * options.padding - options.kernel) / stride + 1;
  };
  Array y =
      test::full({x.shape[0], x.shape[1], extent(2), extent(3)}, -std::numeric_limits<double>::infinity());
  for (int64_t at = 0; at < y.count(); ++at) {
    const int64_t first_row = at / y.shape[3] % y.shape[2] * stride - options.padding;
    const int64_t first_column = at % y.shape[3] * stride - options.padding;
    const int64_t plane = at / (y.shape[2] * y.shape[3]);
    for (int64_t i = std::max<int64_t>(first_row, 0); i < std::min(first_row + options.kernel, x.shape[2]);
         ++i) {
      for (int64_t j = std::max<int64_t>(first_column, 0);
           j < std::min(first_column + options.kernel, x.shape[3]); ++j) {
        y[at] = std::max(y[at], x[(plane * x.shape[2] + i) * x.shape[3] + j]);
      }
    }
  }
  return y;
}

/// Distinct values, so that no two elements of a window are near a tie.
Array shuffled_integers(const Shape& shape) {
  Array x = test::full(shape, 0);
  for (int64_t i = 0; i < x.count(); ++i) x[i] = static_cast<double>((i * 7919) % 104729) / 64;
  return x;
}

test::OpCase op_case(const Shape& x, const Pool2dOptions& options) {
  return {
      .name = to_text("max_pool2d of ", x, ", kernel ", options.kernel, ", padding ", options.padding),
      .inputs = {shuffled_integers(x)},
      .run = [options](const std::vector<Tensor>& inputs) { return max_pool2d(inputs[0], options); },
      .reference =
          [options](const std::vector<Array>& inputs) { return reference_max_pool2d(inputs[0], options); }};
}

TEST(MaxPool2d, AgreesWithTheDefinition) {
  struct Case {
    Shape x;
    Pool2dOptions options;
  };
  for (const Case& pool : std::vector<Case>{{{1, 1, 2, 2}, {}},
                                            {{2, 3, 7, 6}, {}},
                                            {{1, 16, 4, 4}, {.kernel = 2}},
                                            {{1, 5, 7, 7}, {.kernel = 3, .stride = 2, .padding = 1}},
                                            {{1, 20, 5, 3}, {.kernel = 3, .stride = 1, .padding = 1}},
                                            {{1, 2, 5, 5}, {.kernel = 5}},
                                            {{1, 2, 6, 6}, {.kernel = 1, .stride = 2}}}) {
    test::check_op(op_case(pool.x, pool.options));
  }
}

TEST(MaxPool2d, TheFirstOfEqualValuesGetsTheGradient) {
  Tensor x = Tensor::zeros({1, 1, 2, 4});
  x.set_requires_grad(true);
  const Tensor y = max_pool2d(x);
  backward(y, {.seed = Tensor::from<float>({3, 5}, {1, 1, 1, 2}), .between_nodes = {}});
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{3, 0, 5, 0, 0, 0, 0, 0}));
}

TEST(MaxPool2d, PaddingNeverWins) {
  const Tensor x = Tensor::full({1, 1, 3, 3}, -7);
  const Tensor y = max_pool2d(x, {.kernel = 3, .stride = 1, .padding = 1});
  EXPECT_EQ(y.to_vector<float>(), std::vector<float>(9, -7));
}

TEST(MaxPool2d, KeepsTheLayoutOfItsInput) {
  Tensor x = test::to_tensor(test::random_array({2, 20, 8, 8}, 1));
  const Tensor weight = test::to_tensor(test::random_array({20, 20, 1, 1}, 2));
  x.set_requires_grad(true);
  const Tensor opaque = conv2d(x, weight, {});
  ASSERT_NE(opaque.layout(), nullptr);
  const uint64_t before = onednn::reorder_count();
  const Tensor y = max_pool2d(opaque);
  EXPECT_EQ(onednn::reorder_count(), before);
  ASSERT_NE(y.layout(), nullptr);
  EXPECT_EQ(y.layout()->name, opaque.layout()->name);
  const Tensor from_plain = max_pool2d(plain(opaque.detach()));
  EXPECT_EQ(from_plain.layout(), nullptr);
  EXPECT_EQ(y.to_vector<float>(), from_plain.to_vector<float>());

  backward(y, {.seed = Tensor::full(y.shape(), 1), .between_nodes = {}});  // a plain gradient is taken too
  EXPECT_TRUE(x.grad().defined());
}

TEST(MaxPool2d, ErrorsNameTheShape) {
  const auto call = [](const Shape& x, const Pool2dOptions& options) {
    return [=] { max_pool2d(Tensor::zeros(x), options); };
  };
  test::expect_error<InvalidArgument>(
      call({1, 1, 4, 2}, {.kernel = 3}),
      "[max_pool2d] the window [3, 3] is larger than the padded image: input [1, 1, 4, 2]");
  test::expect_error<InvalidArgument>(call({4, 4}, {}), "expected input [n, c, h, w], got [4, 4]");
  test::expect_error<InvalidArgument>(call({0, 1, 4, 4}, {}), "empty batch or image: input [0, 1, 4, 4]");
  test::expect_error<InvalidArgument>(call({1, 1, 4, 4}, {.kernel = 2, .padding = 2}),
                                      "got padding 2, kernel 2");
}

}  // namespace

test::OpRows max_pool2d_rows() {
  return {{.name = "max_pool2d",
           .checked = op_case({1, 5, 7, 7}, {.kernel = 3, .stride = 2, .padding = 1}),
           .timed = [] {
             return op_case({32, 64, 56, 56}, {.kernel = 3, .stride = 2, .padding = 1});
           }}};
}

}  // namespace lockstep::ops
