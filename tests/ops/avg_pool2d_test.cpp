#include "ops/avg_pool2d/avg_pool2d.h"

#include <gtest/gtest.h>

#include "ops/conv2d/conv2d.h"
#include "ops/cpu/onednn.h"
#include "runtime/autograd.h"
#include "tests/ops/op_rows.h"
#include "tests/support/expect_error.h"

namespace lockstep::ops {
namespace {

using test::Array;

Array reference_avg_pool2d(const Array& x, const AvgPool2dOptions& options) {
  const int64_t stride = options.stride == 0 ? options.kernel : options.stride;
  const auto extent = [&](int dim) {
    return (x.shape[dim] + 2 * options.padding - options.kernel) / stride + 1;
  };
  Array y = test::full({x.shape[0], x.shape[1], extent(2), extent(3)}, 0);
  for (int64_t at = 0; at < y.count(); ++at) {
    const int64_t first_row = at / y.shape[3] % y.shape[2] * stride - options.padding;
    const int64_t first_column = at % y.shape[3] * stride - options.padding;
    const int64_t plane = at / (y.shape[2] * y.shape[3]);
    int64_t inside = 0;
    for (int64_t i = std::max<int64_t>(first_row, 0); i < std::min(first_row + options.kernel, x.shape[2]);
         ++i) {
      for (int64_t j = std::max<int64_t>(first_column, 0);
           j < std::min(first_column + options.kernel, x.shape[3]); ++j) {
        y[at] += x[(plane * x.shape[2] + i) * x.shape[3] + j];
        ++inside;
      }
    }
    y[at] /= static_cast<double>(options.count_include_pad ? options.kernel * options.kernel : inside);
  }
  return y;
}

test::OpCase op_case(const Shape& x, const AvgPool2dOptions& options) {
  return {
      .name = to_text("avg_pool2d of ", x, ", kernel ", options.kernel, ", padding ", options.padding),
      .inputs = {test::random_array(x, 1)},
      .run = [options](const std::vector<Tensor>& inputs) { return avg_pool2d(inputs[0], options); },
      .reference =
          [options](const std::vector<Array>& inputs) { return reference_avg_pool2d(inputs[0], options); }};
}

TEST(AvgPool2d, AgreesWithTheDefinition) {
  struct Case {
    Shape x;
    AvgPool2dOptions options;
  };
  for (const Case& pool : std::vector<Case>{
           {{1, 1, 2, 2}, {}},
           {{2, 3, 5, 6}, {}},
           {{1, 16, 4, 4}, {.kernel = 4}},
           {{1, 5, 6, 6}, {.kernel = 3, .stride = 2, .padding = 1}},
           {{1, 5, 6, 6}, {.kernel = 3, .stride = 2, .padding = 1, .count_include_pad = false}},
           {{1, 20, 4, 3}, {.kernel = 2, .stride = 1, .padding = 1, .count_include_pad = false}}}) {
    test::check_op(op_case(pool.x, pool.options));
  }
}

TEST(AvgPool2d, TheDivisorAtTheEdgeIsTheCallersChoice) {
  const Tensor x = Tensor::full({1, 1, 2, 2}, 1);
  EXPECT_EQ(avg_pool2d(x, {.kernel = 2, .stride = 2, .padding = 1}).to_vector<float>(),
            std::vector<float>(4, 0.25));
  EXPECT_EQ(
      avg_pool2d(x, {.kernel = 2, .stride = 2, .padding = 1, .count_include_pad = false}).to_vector<float>(),
      std::vector<float>(4, 1));
}

TEST(AvgPool2d, KeepsTheLayoutOfItsInput) {
  Tensor x = test::to_tensor(test::random_array({2, 20, 8, 8}, 1));
  const Tensor weight = test::to_tensor(test::random_array({20, 20, 1, 1}, 2));
  x.set_requires_grad(true);
  const Tensor opaque = conv2d(x, weight, {});
  ASSERT_NE(opaque.layout(), nullptr) << "this machine's library prefers plain memory";
  const uint64_t before = onednn::reorder_count();
  const Tensor y = avg_pool2d(opaque, {.kernel = 8});
  EXPECT_EQ(onednn::reorder_count(), before);
  ASSERT_NE(y.layout(), nullptr);
  test::expect_near(test::to_array(y), reference_avg_pool2d(test::to_array(opaque), {.kernel = 8}), 1e-6,
                    "average");
  backward(y, {.seed = Tensor::full(y.shape(), 1), .between_nodes = {}});  // a plain gradient is taken too
  EXPECT_TRUE(x.grad().defined());
}

TEST(AvgPool2d, ErrorsNameTheShape) {
  test::expect_error<InvalidArgument>(
      [] {
        avg_pool2d(Tensor::zeros({1, 1, 4, 2}), {.kernel = 3});
      },
      "[avg_pool2d] the window [3, 3] is larger than the padded image: input [1, 1, 4, 2]");
}

}  // namespace

test::OpRows avg_pool2d_rows() {
  return {{.name = "avg_pool2d",
           .checked = op_case({1, 5, 7, 7}, {.kernel = 3, .stride = 2, .padding = 1}),
           .timed = [] {
             return op_case({32, 64, 56, 56}, {.kernel = 3, .stride = 2, .padding = 1});
           }}};
}

}  // namespace lockstep::ops
