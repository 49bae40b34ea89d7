#include "ops/softmax/softmax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "runtime/autograd.h"
#include "tests/ops/op_rows.h"
#include "tests/support/expect_error.h"
#include "tests/support/padded_layout.h"

namespace lockstep::ops {
namespace {

using test::Array;

Array reference(const Array& x, int dim, bool logarithm) {
  Array y = x;
  test::for_each_index(x.shape, [&](const std::vector<int64_t>& index) {
    std::vector<int64_t> other = index;
    double sum = 0;
    for (int64_t j = 0; j < x.shape[dim]; ++j) {
      other[static_cast<size_t>(dim < 0 ? dim + x.shape.ndim() : dim)] = j;
      sum += std::exp(x.at(other));
    }
    y.at(index) = logarithm ? x.at(index) - std::log(sum) : std::exp(x.at(index)) / sum;
  });
  return y;
}

test::OpCase op_case(const Shape& shape, int dim, bool logarithm) {
  return {.name = to_text(logarithm ? "log_softmax" : "softmax", " of ", shape, " along ", dim),
          .inputs = {test::random_array(shape, 1, -3, 3)},
          .run =
              [=](const std::vector<Tensor>& x) {
                return logarithm ? log_softmax(x[0], dim) : softmax(x[0], dim);
              },
          .reference = [=](const std::vector<Array>& x) { return reference(x[0], dim, logarithm); }};
}

TEST(Softmax, ValuesAndGradientsAlongEveryDimension) {
  for (const Shape& shape : {Shape{9}, Shape{3, 5}, Shape{2, 3, 17}, Shape{2, 3, 1, 4}, Shape{2, 37}}) {
    for (int dim = -shape.ndim(); dim < shape.ndim(); ++dim) {
      for (const bool logarithm : {false, true}) test::check_op(op_case(shape, dim, logarithm));
    }
  }
}

TEST(Softmax, ExtremeLogitsAreStable) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const Tensor x = Tensor::from<float>({1e4F, 1e4F, -1e4F, 0, -kInf, 0}, {2, 3});
  EXPECT_EQ(softmax(x).to_vector<float>(), (std::vector<float>{0.5, 0.5, 0, 0.5, 0, 0.5}));
  const auto logs = log_softmax(x).to_vector<float>();
  EXPECT_NEAR(logs[0], -std::log(2), 1e-6);
  EXPECT_EQ(logs[2], -2e4F - 0.69314718F);
  EXPECT_EQ(logs[4], -kInf);
}

TEST(Softmax, NanStaysInItsRow) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto y = softmax(Tensor::from<float>({0, nan, 0, 0}, {2, 2})).to_vector<float>();
  EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]));
  EXPECT_EQ(y[2] + y[3], 1);
}

TEST(Softmax, EmptyAndOpaqueOperands) {
  EXPECT_EQ(softmax(Tensor::zeros({0, 3})).shape(), (Shape{0, 3}));
  EXPECT_EQ(log_softmax(Tensor::zeros({2, 0}), 0).shape(), (Shape{2, 0}));
  const Tensor opaque = test::padded_tensor({1, 2, 3, 1, 5, -2}, {2, 3});
  EXPECT_EQ(softmax(opaque).to_vector<float>(),
            softmax(Tensor::from<float>({1, 2, 3, 1, 5, -2}, {2, 3})).to_vector<float>());
}

TEST(Softmax, ErrorsNameDimensionAndShape) {
  test::expect_error<InvalidArgument>(
      [] {
        softmax(Tensor::zeros({2, 3}), 2);
      },
      "[softmax] dimension 2 is outside shape [2, 3]");
  test::expect_error<InvalidArgument>(
      [] {
        log_softmax(Tensor::zeros({2, 3}), -3);
      },
      "[log_softmax] dimension -3 is outside shape [2, 3]");
  test::expect_error<InvalidArgument>([] { softmax(Tensor::zeros({})); }, "dimension -1 is outside shape []");
}

}  // namespace

test::OpRows softmax_rows() {
  return {{.name = "softmax",
           .checked = op_case({2, 3, 17}, -1, false),
           .timed =
               [] {
                 return op_case({4096, 1024}, -1, false);
               }},
          {.name = "log_softmax", .checked = op_case({2, 3, 17}, -1, true), .timed = [] {
             return op_case({4096, 1024}, -1, true);
           }}};
}

}  // namespace lockstep::ops
