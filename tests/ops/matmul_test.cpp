#include "ops/matmul/matmul.h"

#include <gtest/gtest.h>

#include "runtime/autograd.h"
#include "tests/ops/op_rows.h"
#include "tests/support/expect_error.h"

namespace lockstep::ops {
namespace {

using test::Array;

Array reference_matmul(const Array& a, const Array& b, const MatmulOptions& options) {
  const int64_t rows = a.shape[options.transpose_a ? -1 : -2];
  const int64_t inner = a.shape[options.transpose_a ? -2 : -1];
  const int64_t columns = b.shape[options.transpose_b ? -2 : -1];
  Shape shape = a.shape;
  shape[-2] = rows;
  shape[-1] = columns;
  Array y = test::full(shape, 0);
  for (int64_t at = 0; at < y.count(); ++at) {
    const int64_t batch = at / (rows * columns);
    const int64_t i = at / columns % rows;
    const int64_t j = at % columns;
    const double* left = a.values.data() + batch * rows * inner;
    const double* right = b.values.data() + batch * inner * columns;
    for (int64_t k = 0; k < inner; ++k) {
      y.values[static_cast<size_t>(at)] += left[options.transpose_a ? k * rows + i : i * inner + k] *
                                           right[options.transpose_b ? j * inner + k : k * columns + j];
    }
  }
  return y;
}

test::OpCase op_case(int64_t batch, const Shape& mkn, const MatmulOptions& options) {
  const auto shape = [&](int64_t rows, int64_t columns, bool transpose) {
    if (transpose) std::swap(rows, columns);
    return batch > 0 ? Shape{batch, rows, columns} : Shape{rows, columns};
  };
  test::OpCase op;
  op.inputs = {test::random_array(shape(mkn[0], mkn[1], options.transpose_a), 1),
               test::random_array(shape(mkn[1], mkn[2], options.transpose_b), 2)};
  op.name = to_text("matmul of ", op.inputs[0].shape, " and ", op.inputs[1].shape);
  op.run = [options](const std::vector<Tensor>& inputs) { return matmul(inputs[0], inputs[1], options); };
  op.reference = [options](const std::vector<Array>& inputs) {
    return reference_matmul(inputs[0], inputs[1], options);
  };
  return op;
}

TEST(Matmul, AgreesWithTheDefinitionUnderAllTranspositions) {
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      for (const Shape& mkn :
           {Shape{1, 1, 1}, Shape{2, 3, 4}, Shape{5, 1, 7}, Shape{16, 8, 1}, Shape{5, 9, 17}}) {
        for (const int64_t batch : {0, 1, 3}) test::check_op(op_case(batch, mkn, {transpose_a, transpose_b}));
      }
    }
  }
}

TEST(Matmul, ASumOverNothingIsZero) {
  Tensor a = Tensor::zeros({2, 0});
  a.set_requires_grad(true);
  const Tensor y = matmul(a, Tensor::zeros({0, 3}));
  EXPECT_EQ(y.to_vector<float>(), std::vector<float>(6, 0));
  backward(y, {.seed = Tensor::full({2, 3}, 1), .between_nodes = {}});
  EXPECT_EQ(a.grad().shape(), (Shape{2, 0}));
  EXPECT_EQ(matmul(Tensor::zeros({0, 4}), Tensor::zeros({4, 3})).shape(), (Shape{0, 3}));

  Tensor b = Tensor::full({4, 3}, 1);
  b.set_requires_grad(true);
  backward(matmul(Tensor::zeros({0, 4}), b), {.seed = Tensor::zeros({0, 3}), .between_nodes = {}});
  EXPECT_EQ(b.grad().to_vector<float>(), std::vector<float>(12, 0));
}

TEST(Matmul, ErrorsNameBothShapes) {
  const auto call = [](const Shape& a, const Shape& b, const MatmulOptions& options = {}) {
    return [=] { matmul(Tensor::zeros(a), Tensor::zeros(b), options); };
  };
  test::expect_error<InvalidArgument>(call({2, 3}, {4, 5}),
                                      "[matmul] inner extents differ: [2, 3] and [4, 5]");
  test::expect_error<InvalidArgument>(call({3, 2}, {4, 5}, {.transpose_a = true}),
                                      "inner extents differ: [3, 2] transposed and [4, 5]");
  test::expect_error<InvalidArgument>(call({2, 2, 3}, {3, 3, 5}),
                                      "the batches differ: [2, 2, 3] and [3, 3, 5]");
  test::expect_error<InvalidArgument>(call({2, 3}, {2, 3, 5}), "got [2, 3] and [2, 3, 5]");
  test::expect_error<InvalidArgument>(
      [] {
        matmul(Tensor::zeros({2, 2}, DType::kI64), Tensor::zeros({2, 2}));
      },
      "expected f32, got i64");
}

}  // namespace

test::OpRows matmul_rows() {
  return {{.name = "matmul",
           .checked = op_case(3, {5, 9, 17}, {}),
           .timed =
               [] {
                 return op_case(0, {512, 512, 512}, {});
               },
           .flops = 2.0 * 512 * 512 * 512}};
}

}  // namespace lockstep::ops
