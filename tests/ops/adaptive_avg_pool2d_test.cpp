#include "ops/adaptive_avg_pool2d/adaptive_avg_pool2d.h"

#include <gtest/gtest.h>

#include "ops/conv2d/conv2d.h"
#include "ops/cpu/onednn.h"
#include "runtime/autograd.h"
#include "tests/ops/op_rows.h"
#include "tests/support/expect_error.h"

namespace lockstep::ops {
namespace {

using test::Array;

/// Straight from the rule.
Array reference_pool(const Array& x, const ImageSize& size) {
  Array y = test::full({x.shape[0], x.shape[1], size.rows, size.columns}, 0);
  test::for_each_index(y.shape, [&](const std::vector<int64_t>& at) {
    const auto first = [&](int64_t i, int64_t parts, int64_t extent) { return i * extent / parts; };
    const auto last = [&](int64_t i, int64_t parts, int64_t extent) {
      return ((i + 1) * extent + parts - 1) / parts;
    };
    double count = 0;
    for (int64_t row = first(at[2], size.rows, x.shape[2]); row < last(at[2], size.rows, x.shape[2]); ++row) {
      for (int64_t column = first(at[3], size.columns, x.shape[3]);
           column < last(at[3], size.columns, x.shape[3]); ++column) {
        y.at(at) += x.at({at[0], at[1], row, column});
        ++count;
      }
    }
    y.at(at) /= count;
  });
  return y;
}

test::OpCase op_case(const Shape& x, const ImageSize& size) {
  return {.name = to_text("adaptive_avg_pool2d of ", x, " to [", size.rows, ", ", size.columns, "]"),
          .inputs = {test::random_array(x, 1)},
          .run = [size](const std::vector<Tensor>& inputs) { return adaptive_avg_pool2d(inputs[0], size); },
          .reference = [size](const std::vector<Array>& inputs) { return reference_pool(inputs[0], size); }};
}

TEST(AdaptiveAvgPool2d, AgreesWithTheDefinition) {
  struct Case {
    Shape x;
    ImageSize size;
  };
  for (const Case& pool : std::vector<Case>{{{2, 3, 4, 5}, {1, 1}},
                                            {{1, 20, 7, 7}, {1, 1}},
                                            {{2, 3, 6, 4}, {3, 2}},
                                            {{1, 2, 7, 5}, {3, 2}},  // windows overlap
                                            {{1, 2, 6, 5}, {3, 4}},  // along the columns only
                                            {{1, 1, 2, 3}, {5, 3}},  // enlarges
                                            {{1, 1, 13, 11}, {6, 6}}}) {
    test::check_op(op_case(pool.x, pool.size));
  }
}

TEST(AdaptiveAvgPool2d, OverlappingWindowsShareAPixel) {
  Tensor x = Tensor::from<float>({1, 2, 3}, {1, 1, 1, 3});
  x.set_requires_grad(true);
  const Tensor y = adaptive_avg_pool2d(x, {.rows = 1, .columns = 2});
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{1.5, 2.5}));
  backward(y, {.seed = Tensor::from<float>({1, 4}, y.shape()), .between_nodes = {}});
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{0.5, 2.5, 2}));
}

TEST(AdaptiveAvgPool2d, AnImageOfTheSizeIsTheResult) {
  const Tensor x = Tensor::full({1, 2, 6, 6}, 1);
  EXPECT_TRUE(adaptive_avg_pool2d(x, {.rows = 6, .columns = 6}).same_memory(x));
}

TEST(AdaptiveAvgPool2d, TakesTheLayoutOfConvolutions) {
  const Array values = test::random_array({2, 20, 6, 6}, 1);
  const Tensor weight = test::to_tensor(test::random_array({20, 20, 1, 1}, 2));
  for (const ImageSize& size : {ImageSize{1, 1}, ImageSize{2, 3}, ImageSize{4, 4}}) {
    Tensor x = test::to_tensor(values);
    x.set_requires_grad(true);
    const Tensor opaque = conv2d(x, weight, {});
    ASSERT_NE(opaque.layout(), nullptr) << "this machine's library prefers plain memory";
    const uint64_t before = onednn::reorder_count();
    const Tensor y = adaptive_avg_pool2d(opaque, size);
    const bool divides = size.rows != 4;
    EXPECT_EQ(onednn::reorder_count() - before, divides ? 0U : 1U);
    EXPECT_EQ(y.layout() != nullptr, divides);
    test::expect_near(test::to_array(y), reference_pool(test::to_array(opaque), size), 1e-6, "average");
    backward(y, {.seed = Tensor::full(y.shape(), 1), .between_nodes = {}});  // a plain gradient is taken too
    EXPECT_TRUE(x.grad().defined());
  }
}

TEST(AdaptiveAvgPool2d, ErrorsNameTheShape) {
  test::expect_error<InvalidArgument>(
      [] {
        adaptive_avg_pool2d(Tensor::zeros({4, 2, 3}));
      },
      "[adaptive_avg_pool2d] expected input [n, c, h, w], got [4, 2, 3]");
  test::expect_error<InvalidArgument>(
      [] {
        adaptive_avg_pool2d(Tensor::zeros({1, 4, 0, 3}));
      },
      "empty batch or image: input [1, 4, 0, 3]");
  test::expect_error<InvalidArgument>(
      [] {
        adaptive_avg_pool2d(Tensor::zeros({1, 4, 3, 3}), {.rows = 2, .columns = 0});
      },
      "got size [2, 0] for input [1, 4, 3, 3]");
}

}  // namespace

test::OpRows adaptive_avg_pool2d_rows() {
  return {{.name = "adaptive_avg_pool2d", .checked = op_case({1, 2, 7, 5}, {3, 2}), .timed = [] {
             return op_case({32, 512, 7, 7}, {1, 1});
           }}};
}

}  // namespace lockstep::ops
