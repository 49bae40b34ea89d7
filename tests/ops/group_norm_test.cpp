#include "ops/group_norm/group_norm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ops/conv2d/conv2d.h"
#include "runtime/autograd.h"
#include "runtime/threads.h"
#include "tests/ops/op_rows.h"
#include "tests/support/expect_error.h"

namespace lockstep::ops {
namespace {

using test::Array;

Array reference_group_norm(const std::vector<Array>& inputs, const GroupNormOptions& options) {
  Array y = inputs[0];
  const int64_t channels = y.shape[1];
  const int64_t pixels = y.count() / (y.shape[0] * channels);
  const int64_t size = channels / options.groups * pixels;
  for (int64_t first = 0; first < y.count(); first += size) {
    double mean = 0;
    double variance = 0;
    for (int64_t i = first; i < first + size; ++i) mean += inputs[0][i] / static_cast<double>(size);
    for (int64_t i = first; i < first + size; ++i) {
      variance += (inputs[0][i] - mean) * (inputs[0][i] - mean) / static_cast<double>(size);
    }
    for (int64_t i = first; i < first + size; ++i) {
      const int64_t channel = i / pixels % channels;
      y[i] = inputs[1][channel] * (y[i] - mean) / std::sqrt(variance + options.epsilon) + inputs[2][channel];
    }
  }
  return y;
}

std::vector<Array> random_inputs(const Shape& x) {
  return {test::random_array(x, 4, -3, 5), test::random_array({x[1]}, 5, 0.5, 2),
          test::random_array({x[1]}, 6)};
}

test::OpCase op_case(const Shape& x, int64_t groups) {
  const GroupNormOptions options{.groups = groups, .epsilon = 1e-3};
  return {.name = to_text("group_norm of ", x, ", groups ", groups),
          .inputs = random_inputs(x),
          .run =
              [options](const std::vector<Tensor>& inputs) {
                return group_norm(inputs[0], inputs[1], inputs[2], options);
              },
          .reference =
              [options](const std::vector<Array>& inputs) { return reference_group_norm(inputs, options); }};
}

TEST(GroupNorm, AgreesWithTheDefinition) {
  struct Case {
    Shape x;
    int64_t groups;
  };
  for (const Case& norm : std::vector<Case>{{{2, 6, 3, 3}, 3},
                                            {{3, 4, 2, 5}, 1},  // as layer norm
                                            {{2, 5, 3, 3}, 5},  // instance norm
                                            {{3, 8}, 2},
                                            {{2, 4, 7}, 2},
                                            {{1, 4, 2, 3, 2}, 2}}) {
    test::check_op(op_case(norm.x, norm.groups));
  }
}

TEST(GroupNorm, AMeanFarFromZeroCostsNoDigits) {
  Array x = test::random_array({2, 4, 8, 8}, 1);
  for (double& value : x.values) value = static_cast<float>(value + 1000);
  const Array one = test::full({4}, 1);
  const Array zero = test::full({4}, 0);
  const GroupNormOptions options{.groups = 2};
  test::expect_near(
      test::to_array(group_norm(test::to_tensor(x), test::to_tensor(one), test::to_tensor(zero), options)),
      reference_group_norm({x, one, zero}, options), 1e-4, "values around 1000");
}

TEST(GroupNorm, TakesTheLayoutOfConvolutions) {
  const Tensor image = test::to_tensor(test::random_array({2, 20, 4, 4}, 1));
  const Tensor weight = test::to_tensor(test::random_array({20, 20, 1, 1}, 2));
  const Tensor h = conv2d(image, weight, {});
  ASSERT_NE(h.layout(), nullptr) << "this machine's library prefers plain memory";
  const Tensor one = Tensor::full({20}, 1);
  const Tensor zero = Tensor::zeros({20});
  const Tensor y = group_norm(h, one, zero, {.groups = 4});
  EXPECT_EQ(y.to_vector<float>(), group_norm(plain(h), one, zero, {.groups = 4}).to_vector<float>());
}

TEST(GroupNorm, ThreadsDoNotChangeTheBits) {
  const auto run = [](int threads) {
    configure_compute_threads(threads);
    std::vector<Tensor> inputs;
    for (const Array& input : random_inputs({7, 24, 16, 16})) {
      inputs.push_back(test::to_tensor(input));
      inputs.back().set_requires_grad(true);
    }
    const Tensor y = group_norm(inputs[0], inputs[1], inputs[2], {.groups = 8});
    backward(y, {.seed = test::to_tensor(test::random_array(y.shape(), 9)), .between_nodes = {}});
    std::vector<std::vector<float>> bits = {y.to_vector<float>()};
    for (const Tensor& input : inputs) bits.push_back(input.grad().to_vector<float>());
    configure_compute_threads(allowed_cores());
    return bits;
  };
  EXPECT_EQ(run(1), run(3));
}

TEST(GroupNorm, ErrorsNameTheShapes) {
  const auto call = [](const Shape& x, int64_t groups, int64_t gamma = 6, int64_t beta = 6) {
    return [=] {
      group_norm(Tensor::zeros(x), Tensor::zeros({gamma}), Tensor::zeros({beta}), {.groups = groups});
    };
  };
  test::expect_error<InvalidArgument>(
      call({2, 6, 4, 4}, 4),
      "[group_norm] expected groups that divide the channels of input [2, 6, 4, 4], got 4");
  test::expect_error<InvalidArgument>(call({2, 6, 4, 4}, 0), "got 0");
  test::expect_error<InvalidArgument>(call({6}, 1), "expected input [n, c, ...], got [6]");
  test::expect_error<InvalidArgument>(call({2, 6, 0}, 2), "empty batch or image: input [2, 6, 0]");
  test::expect_error<InvalidArgument>(call({2, 6, 1, 1}, 6),
                                      "one value has no variance: input [2, 6, 1, 1], groups 6");
  test::expect_error<InvalidArgument>(call({2, 6, 4, 4}, 2, 5),
                                      "expected gamma and beta [6] for input [2, 6, 4, 4], got gamma [5]");
}

}  // namespace

test::OpRows group_norm_rows() {
  return {{.name = "group_norm", .checked = op_case({2, 6, 3, 3}, 3), .timed = [] {
             return op_case({32, 64, 56, 56}, 32);
           }}};
}

}  // namespace lockstep::ops
