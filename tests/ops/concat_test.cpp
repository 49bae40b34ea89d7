#include "ops/concat/concat.h"

#include <gtest/gtest.h>

#include "runtime/autograd.h"
#include "tests/ops/op_rows.h"
#include "tests/support/expect_error.h"
#include "tests/support/padded_layout.h"

namespace lockstep::ops {
namespace {

using test::Array;
using test::OpCase;

std::vector<Array> random_parts(const std::vector<Shape>& shapes) {
  std::vector<Array> parts;
  for (const Shape& shape : shapes) parts.push_back(test::random_array(shape, parts.size() + 1));
  return parts;
}

Array reference_concat(const std::vector<Array>& parts, size_t dim) {
  Shape shape = parts[0].shape;
  auto& extent = shape[static_cast<int>(dim)];
  extent = 0;
  for (const Array& part : parts) extent += part.shape[static_cast<int>(dim)];
  Array result = test::full(shape, 0);
  int64_t start = 0;
  for (const Array& part : parts) {
    test::for_each_index(part.shape, [&](std::vector<int64_t> index) {
      const double value = part.at(index);
      index[dim] += start;
      result.at(index) = value;
    });
    start += part.shape[static_cast<int>(dim)];
  }
  return result;
}

/// `dim` may be negative.
OpCase concat_case(const std::vector<Shape>& shapes, int dim) {
  const auto index = static_cast<size_t>(dim < 0 ? dim + shapes[0].ndim() : dim);
  return {.name = to_text("concat of ", shapes[0], " along ", dim),
          .inputs = random_parts(shapes),
          .run = [dim](const std::vector<Tensor>& x) { return concat(x, dim); },
          .reference = [index](const std::vector<Array>& x) { return reference_concat(x, index); },
          .value_tolerance = 0};
}

OpCase stack_case(const Shape& shape, size_t count, int dim) {
  return {.name = to_text("stack of ", shape, " along ", dim),
          .inputs = random_parts(std::vector<Shape>(count, shape)),
          .run = [dim](const std::vector<Tensor>& x) { return stack(x, dim); },
          .reference =
              [=](const std::vector<Array>& x) {
                const auto place = static_cast<size_t>(dim < 0 ? dim + shape.ndim() + 1 : dim);
                std::vector<int64_t> extents(shape.begin(), shape.end());
                extents.insert(extents.begin() + static_cast<int64_t>(place), 1);
                std::vector<Array> widened = x;
                for (Array& part : widened) part.shape = Shape(extents);
                return reference_concat(widened, place);
              },
          .value_tolerance = 0};
}

TEST(Concat, ValuesAndGradients) {
  test::check_op(concat_case({{3}, {1}, {4}}, 0));
  test::check_op(concat_case({{2, 3}, {1, 3}}, 0));
  test::check_op(concat_case({{2, 3}, {2, 1}, {2, 2}}, 1));
  test::check_op(concat_case({{2, 3, 4}, {2, 2, 4}}, -2));
  test::check_op(concat_case({{2, 3}}, 0));
  test::check_op(concat_case({{2, 0}, {2, 2}, {2, 0}}, 1));
  test::check_op(concat_case({{0, 2}, {0, 3}}, 1));
}

TEST(Concat, StackValuesAndGradients) {
  for (const int dim : {0, 1, 2, -1, -3}) test::check_op(stack_case({2, 3}, 3, dim));
  test::check_op(stack_case({}, 2, 0));
  test::check_op(stack_case({0, 2}, 2, 1));
}

TEST(Concat, OneTensorTwiceGetsBothGradients) {
  Tensor x = Tensor::from<float>({1, 2}, {2});
  x.set_requires_grad(true);
  const Tensor constant = Tensor::full({1}, 9);
  const Tensor y = concat({x, constant, x});
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{1, 2, 9, 1, 2}));
  backward(y, {.seed = Tensor::from<float>({1, 2, 3, 4, 5}, {5}), .between_nodes = {}});
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{5, 7}));
}

TEST(Concat, TakesEveryElementTypeAndLayout) {
  for (const DType dtype : {DType::kF16, DType::kBF16, DType::kF64, DType::kI64, DType::kI32, DType::kU8}) {
    const Tensor x = test::to_tensor({{2}, {1, 2}}, dtype);
    EXPECT_EQ(test::to_array(concat({x, x})).values, (std::vector<double>{1, 2, 1, 2})) << dtype;
  }
  const Tensor opaque = test::padded_tensor({1, 2, 3, 4}, {2, 2});
  EXPECT_EQ(concat({opaque, opaque}, 1).to_vector<float>(), (std::vector<float>{1, 2, 1, 2, 3, 4, 3, 4}));
}

TEST(Concat, ErrorsNameBothShapes) {
  const Tensor x = Tensor::zeros({2, 3});
  test::expect_error<InvalidArgument>([] { concat({}); }, "[concat] expected at least one operand");
  test::expect_error<InvalidArgument>(
      [&] {
        concat({x, Tensor::zeros({3, 3})}, 1);
      },
      "[concat] operand 1 is f32 [3, 3]: expected f32 and a shape as [2, 3] but for dimension 1");
  test::expect_error<InvalidArgument>([&] { concat({x, Tensor::zeros({2})}); }, "operand 1 is f32 [2]");
  test::expect_error<InvalidArgument>(
      [&] {
        concat({x, Tensor::zeros({2, 3}, DType::kI64)});
      },
      "operand 1 is i64 [2, 3]: expected f32");
  test::expect_error<InvalidArgument>([&] { concat({x, x}, 2); }, "dimension 2 is outside shape [2, 3]");
  test::expect_error<InvalidArgument>([&] { concat({x, Tensor()}); }, "an operand is undefined");
  test::expect_error<InvalidArgument>(
      [&] {
        stack({x, Tensor::zeros({3, 2})});
      },
      "[stack] expected operands of one shape, got [2, 3] and [3, 2]");
  test::expect_error<InvalidArgument>([&] { stack({x}, 3); },
                                      "[stack] there is no place 3 for a new dimension in shape [2, 3]");
  test::expect_error<InvalidArgument>([] { stack({}); }, "[stack] expected at least one operand");
}

}  // namespace

test::OpRows concat_rows() {
  return {{.name = "concat",
           .checked = concat_case({{2, 3}, {2, 2}}, 1),
           .timed =
               [] {
                 return concat_case({{2048, 1024}, {2048, 1024}}, 1);
               }},
          {.name = "stack", .checked = stack_case({2, 3}, 2, 1), .timed = [] {
             return stack_case({2048, 1024}, 2, 0);
           }}};
}

}  // namespace lockstep::ops
