#include "ops/slice/slice.h"

#include <gtest/gtest.h>

#include "runtime/autograd.h"
#include "tests/ops/op_rows.h"
#include "tests/support/expect_error.h"
#include "tests/support/padded_layout.h"

namespace lockstep::ops {
namespace {

using test::Array;
using test::OpCase;

/// start, stop and step as they count from the front.
OpCase slice_case(const Shape& shape, int dim, const SliceRange& range) {
  return {.name = to_text("slice of ", shape, " from ", range.start),
          .inputs = {test::random_array(shape, 1)},
          .run = [=](const std::vector<Tensor>& x) { return slice(x[0], dim, range); },
          .reference =
              [=](const std::vector<Array>& x) {
                Shape part = shape;
                part[dim] = (range.stop - range.start + range.step - 1) / range.step;
                Array result = test::full(part, 0);
                test::for_each_index(part, [&](std::vector<int64_t> index) {
                  double& target = result.at(index);
                  int64_t& at = index[static_cast<size_t>(dim < 0 ? dim + shape.ndim() : dim)];
                  at = range.start + at * range.step;
                  target = x[0].at(index);
                });
                return result;
              },
          .value_tolerance = 0};
}

OpCase pad_case(const Shape& shape, const std::vector<PadSides>& sides, double value) {
  return {.name = to_text("pad of ", shape),
          .inputs = {test::random_array(shape, 2)},
          .run = [=](const std::vector<Tensor>& x) { return pad(x[0], sides, value); },
          .reference =
              [=](const std::vector<Array>& x) {
                Shape whole = shape;
                for (int dim = 0; dim < shape.ndim(); ++dim) {
                  const auto [before, after] = sides[static_cast<size_t>(dim)];
                  whole[dim] += before + after;
                }
                Array result = test::full(whole, value);
                test::for_each_index(shape, [&](const std::vector<int64_t>& index) {
                  std::vector<int64_t> target = index;
                  for (size_t dim = 0; dim < index.size(); ++dim) target[dim] += sides[dim].before;
                  result.at(target) = x[0].at(index);
                });
                return result;
              },
          .value_tolerance = 0};
}

TEST(Slice, ValuesAndGradients) {
  test::check_op(slice_case({5}, 0, {.start = 1, .stop = 4}));
  test::check_op(slice_case({5}, 0, {.start = 0, .stop = 5, .step = 2}));
  test::check_op(slice_case({5}, 0, {.start = 1, .stop = 5, .step = 3}));
  test::check_op(slice_case({4, 6}, 0, {.start = 1, .stop = 3}));
  test::check_op(slice_case({4, 6}, 1, {.start = 2, .stop = 6}));
  test::check_op(slice_case({4, 6}, -1, {.start = 0, .stop = 6, .step = 4}));
  test::check_op(slice_case({2, 5, 3}, 1, {.start = 1, .stop = 5, .step = 2}));
  test::check_op(slice_case({2, 5, 3}, 1, {.start = 4, .stop = 5, .step = 7}));
  test::check_op(slice_case({3, 2}, 0, {.start = 2, .stop = 2}));
  test::check_op(slice_case({0, 2}, 1, {.start = 0, .stop = 1}));
}

TEST(Slice, PadValuesAndGradients) {
  test::check_op(pad_case({3}, {{1, 2}}, 0));
  test::check_op(pad_case({2, 3}, {{0, 1}, {2, 0}}, -1.5));
  test::check_op(pad_case({2, 3, 2}, {{1, 1}, {0, 0}, {0, 0}}, 0));
  test::check_op(pad_case({1, 2, 3, 3}, {{0, 0}, {0, 0}, {1, 1}, {1, 1}}, 0.5));
  test::check_op(pad_case({2, 2}, {{0, 0}, {0, 0}}, 7));
  test::check_op(pad_case({0, 2}, {{1, 0}, {0, 1}}, 3));
  test::check_op(pad_case({}, {}, 3));
}

TEST(Slice, BoundsCountFromTheEnd) {
  const Tensor x = Tensor::from<float>({0, 1, 2, 3, 4}, {5});
  EXPECT_EQ(slice(x, 0, {}).to_vector<float>(), x.to_vector<float>());
  EXPECT_EQ(slice(x, 0, {.start = -2}).to_vector<float>(), (std::vector<float>{3, 4}));
  EXPECT_EQ(slice(x, 0, {.stop = -2}).to_vector<float>(), (std::vector<float>{0, 1, 2}));
  EXPECT_EQ(slice(x, -1, {.start = -4, .stop = -1, .step = 2}).to_vector<float>(),
            (std::vector<float>{1, 3}));
}

TEST(Slice, IsAViewOnlyWithStepOne) {
  const Tensor x = Tensor::zeros({4, 3});
  EXPECT_EQ(slice(x, 0, {.start = 1}).storage(), x.storage());
  EXPECT_NE(slice(x, 0, {.step = 2}).storage(), x.storage());
  EXPECT_TRUE(slice(x, 1, {.step = 2}).is_contiguous());
}

TEST(Slice, AStepBeyondTheEndTakesTheFirst) {
  Tensor x = Tensor::from<float>({1, 2, 3, 4, 5, 6}, {3, 2});
  x.set_requires_grad(true);
  const Tensor y = slice(x, 0, {.start = 1, .step = SliceRange::kEnd});
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{3, 4}));
  backward(y, {.seed = Tensor::full({1, 2}, 7), .between_nodes = {}});
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{0, 0, 7, 7, 0, 0}));
}

TEST(Slice, PartsOfOneTensorAddUpTheirGradients) {
  Tensor x = Tensor::from<float>({1, 2, 3}, {3});
  x.set_requires_grad(true);
  const Tensor seed = Tensor::full({2}, 1);
  backward(slice(x, 0, {.start = 1}), {.seed = seed, .between_nodes = {}});
  backward(slice(x, 0, {.step = 2}), {.seed = seed, .between_nodes = {}});
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{1, 1, 2}));
}

TEST(Slice, TakesEveryElementType) {
  for (const DType dtype : {DType::kF16, DType::kBF16, DType::kF64, DType::kI64, DType::kI32, DType::kU8}) {
    const Array values{{3}, {1, 2, 3}};
    const Tensor x = test::to_tensor(values, dtype);
    EXPECT_EQ(test::to_array(slice(x, 0, {.step = 2})).values, (std::vector<double>{1, 3})) << dtype;
    EXPECT_EQ(test::to_array(pad(x, {{1, 0}}, 9)).values, (std::vector<double>{9, 1, 2, 3})) << dtype;
  }
}

TEST(Slice, OpaqueOperandsBecomePlain) {
  Tensor x = test::padded_tensor({1, 2, 3, 4, 5, 6}, {2, 3});
  x.set_requires_grad(true);
  const Tensor y = slice(x, 1, {.step = 2});
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{1, 3, 4, 6}));
  backward(y, {.seed = test::padded_tensor({1, 2, 3, 4}, {2, 2}), .between_nodes = {}});
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{1, 0, 2, 3, 0, 4}));
  EXPECT_EQ(pad(x, {{0, 0}, {1, 0}}).to_vector<float>(), (std::vector<float>{0, 1, 2, 3, 0, 4, 5, 6}));
}

TEST(Slice, ErrorsNameRangeAndShape) {
  const Tensor x = Tensor::zeros({2, 3});
  const auto call = [&](int dim, const SliceRange& range) { return [=] { slice(x, dim, range); }; };
  test::expect_error<InvalidArgument>(call(1, {.start = 1, .stop = 4}),
                                      "[slice] [1, 4) is outside dimension 1 of shape [2, 3]");
  test::expect_error<InvalidArgument>(call(0, {.start = -3}), "[-3, 2) is outside dimension 0");
  test::expect_error<InvalidArgument>(call(0, {.start = 2, .stop = 1}), "[2, 1) is outside dimension 0");
  test::expect_error<InvalidArgument>(call(0, {.step = 0}), "expected a positive step, got 0");
  test::expect_error<InvalidArgument>(call(2, {}), "dimension 2 is outside shape [2, 3]");
  test::expect_error<InvalidArgument>(
      [&] {
        pad(x, {{1, 1}});
      },
      "[pad] expected the sides of 2 dimensions for shape [2, 3], got 1");
  test::expect_error<InvalidArgument>(
      [&] {
        pad(x, {{0, 0}, {-1, 0}});
      },
      "[pad] dimension 1 of shape [2, 3] cannot grow by -1 and 0");
}

}  // namespace

test::OpRows slice_rows() {
  return {
      {.name = "slice",
       .checked = slice_case({2, 5, 3}, 1, {.start = 1, .stop = 5, .step = 2}),
       .timed =
           [] {
             return slice_case({2048, 2048}, 0, {.start = 0, .stop = 2048, .step = 2});
           }},
      {.name = "pad", .checked = pad_case({1, 2, 3, 3}, {{0, 0}, {0, 0}, {1, 1}, {1, 1}}, 0), .timed = [] {
         return pad_case({32, 64, 56, 56}, {{0, 0}, {0, 0}, {1, 1}, {1, 1}}, 0);
       }}};
}

}  // namespace lockstep::ops
