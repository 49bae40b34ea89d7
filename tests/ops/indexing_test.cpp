#include "ops/indexing/indexing.h"

#include <gtest/gtest.h>

#include "ops/cast/cast.h"
#include "runtime/autograd.h"
#include "runtime/threads.h"
#include "tests/ops/op_rows.h"
#include "tests/support/expect_error.h"
#include "tests/support/padded_layout.h"

namespace lockstep::ops {
namespace {

using test::Array;
using test::OpCase;

/// Indices in [0, extent), repeated ones among them, strided where the shape allows.
Array some_indices(const Shape& shape, int64_t extent) {
  Array index = test::full(shape, 0);
  for (int64_t i = 0; i < index.count(); ++i) index[i] = static_cast<double>((i * 7 + i / 3) % extent);
  return index;
}

Tensor index_tensor(const Array& index) {
  return cast(test::to_strided_tensor(index), DType::kI64);
}

OpCase gather_case(const Shape& shape, int dim, const Shape& picked) {
  const Array index = some_indices(picked, shape[dim]);
  return {
      .name = to_text("gather of ", picked, " from ", shape, " along ", dim),
      .inputs = {test::random_array(shape, 1)},
      .run = [dim, at = index_tensor(index)](const std::vector<Tensor>& x) { return gather(x[0], dim, at); },
      .reference =
          [=](const std::vector<Array>& x) {
            Array result = test::full(picked, 0);
            test::for_each_index(picked, [&](const std::vector<int64_t>& at) {
              std::vector<int64_t> source = at;
              source[static_cast<size_t>(dim < 0 ? dim + shape.ndim() : dim)] =
                  static_cast<int64_t>(index.at(at));
              result.at(at) = x[0].at(source);
            });
            return result;
          },
      .value_tolerance = 0};
}

OpCase select_case(const Shape& shape, int dim, int64_t chosen) {
  const Array index = some_indices({chosen}, shape[dim]);
  return {.name = to_text("index_select of ", chosen, " from ", shape, " along ", dim),
          .inputs = {test::random_array(shape, 2)},
          .run = [dim, at = index_tensor(index)](
                     const std::vector<Tensor>& x) { return index_select(x[0], dim, at); },
          .reference =
              [=](const std::vector<Array>& x) {
                Shape picked = shape;
                picked[dim] = chosen;
                Array result = test::full(picked, 0);
                test::for_each_index(picked, [&](const std::vector<int64_t>& at) {
                  std::vector<int64_t> source = at;
                  int64_t& moved = source[static_cast<size_t>(dim < 0 ? dim + shape.ndim() : dim)];
                  moved = static_cast<int64_t>(index[moved]);
                  result.at(at) = x[0].at(source);
                });
                return result;
              },
          .value_tolerance = 0};
}

/// The operand is the index, rounded down.
OpCase one_hot_case(int64_t count, int64_t classes) {
  return {.name = "one_hot",
          .inputs = {test::random_array({count}, 3, 0, static_cast<double>(classes))},
          .run = [=](const std::vector<Tensor>& x) { return one_hot(cast(x[0], DType::kI64), classes); },
          .reference =
              [=](const std::vector<Array>& x) {
                Array result = test::full({count, classes}, 0);
                for (int64_t i = 0; i < count; ++i) result.at({i, static_cast<int64_t>(x[0][i])}) = 1;
                return result;
              },
          .value_tolerance = 0};
}

TEST(Indexing, GatherValuesAndGradients) {
  test::check_op(gather_case({5}, 0, {7}));
  test::check_op(gather_case({4, 3}, 0, {6, 3}));
  test::check_op(gather_case({4, 3}, 0, {2, 2}));
  test::check_op(gather_case({4, 3}, 1, {4, 5}));
  test::check_op(gather_case({2, 5, 3}, 1, {2, 4, 3}));
  test::check_op(gather_case({2, 5, 3}, -1, {1, 5, 8}));
  test::check_op(gather_case({4, 3}, 1, {4, 0}));
  test::check_op(gather_case({4, 3}, 1, {0, 2}));
}

TEST(Indexing, SelectValuesAndGradients) {
  test::check_op(select_case({5}, 0, 7));
  test::check_op(select_case({4, 3}, 0, 9));
  test::check_op(select_case({4, 3}, 1, 2));
  test::check_op(select_case({2, 5, 3}, -2, 6));
  test::check_op(select_case({2, 5, 70}, 1, 3));
  test::check_op(select_case({4, 3}, 0, 0));
  test::check_op(select_case({0, 3}, 1, 2));
}

TEST(Indexing, KnownValues) {
  // The example of PyTorch's documentation of gather.
  const Tensor x = Tensor::from<float>({1, 2, 3, 4}, {2, 2});
  const Tensor index = Tensor::from<int64_t>({0, 0, 1, 0}, {2, 2});
  EXPECT_EQ(gather(x, 1, index).to_vector<float>(), (std::vector<float>{1, 1, 4, 3}));
  EXPECT_EQ(index_select(x, 1, Tensor::from<int64_t>({1}, {1})).to_vector<float>(),
            (std::vector<float>{2, 4}));
}

TEST(Indexing, RepeatedElementsAddUpInIndexOrder) {
  // 2^24 + 1 + 1 in f32 is 2^24 from the left, 2^24 + 2 from the right.
  const std::vector<float> left{0x1p24F, 1, 1};
  const std::vector<float> right{1, 1, 0x1p24F};
  const Tensor same = Tensor::zeros({3}, DType::kI64);
  using Operation = Tensor (*)(const Tensor&, int, const Tensor&);
  for (const Operation run : {gather, index_select}) {
    for (const auto& [seed, sum] : {std::pair(left, 0x1p24F), std::pair(right, 0x1p24F + 2)}) {
      Tensor x = Tensor::zeros({2});
      x.set_requires_grad(true);
      backward(run(x, 0, same), {.seed = Tensor::from(seed, {3}), .between_nodes = {}});
      EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{sum, 0}));
    }
  }
}

TEST(Indexing, SameBitsOnAnyNumberOfThreads) {
  using Operation = Tensor (*)(const Tensor&, int, const Tensor&);
  const auto gradient = [](Operation run, const Tensor& index, const Shape& result) {
    Tensor x = Tensor::zeros({50, 600});
    x.set_requires_grad(true);
    backward(run(x, 0, index), {.seed = test::to_tensor(test::random_array(result, 1)), .between_nodes = {}});
    return x.grad().to_vector<float>();
  };
  const auto both = [&] {
    return std::pair(gradient(gather, index_tensor(some_indices({200, 600}, 50)), {200, 600}),
                     gradient(index_select, index_tensor(some_indices({200}, 50)), {200, 600}));
  };
  configure_compute_threads(1);
  const auto one = both();
  configure_compute_threads(3);
  EXPECT_EQ(both(), one);
  configure_compute_threads(allowed_cores());
}

TEST(Indexing, TakesEveryElementTypeAndLayout) {
  const Tensor index = Tensor::from<int64_t>({2, 0}, {2});
  for (const DType dtype : {DType::kF16, DType::kBF16, DType::kF64, DType::kI64, DType::kI32, DType::kU8}) {
    const Tensor x = test::to_tensor({{3}, {1, 2, 3}}, dtype);
    EXPECT_EQ(test::to_array(gather(x, 0, index)).values, (std::vector<double>{3, 1})) << dtype;
    EXPECT_EQ(test::to_array(index_select(x, 0, index)).values, (std::vector<double>{3, 1})) << dtype;
  }
  const Tensor opaque = test::padded_tensor({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(index_select(opaque, 1, index).to_vector<float>(), (std::vector<float>{3, 1, 6, 4}));
}

TEST(Indexing, GradientsOfShortTypesAreAddedUpInFloat) {
  // In bf16 alone 256 + 1 would stay 256 however often 1 is added.
  Tensor x = Tensor::zeros({1});
  x.set_requires_grad(true);
  const Tensor y = index_select(cast(x, DType::kBF16), 0, Tensor::zeros({5}, DType::kI64));
  backward(y, {.seed = test::to_tensor({{5}, {256, 1, 1, 1, 1}}, DType::kBF16), .between_nodes = {}});
  EXPECT_EQ(x.grad().item(), 260);
}

TEST(Indexing, OneHot) {
  test::check_values(one_hot_case(9, 4));
  const Tensor y = one_hot(Tensor::from<int64_t>({2, 0, 1, 1}, {2, 2}), 3);
  EXPECT_EQ(y.shape(), (Shape{2, 2, 3}));
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0}));
  EXPECT_EQ(one_hot(Tensor::zeros({}, DType::kI64), 2).to_vector<float>(), (std::vector<float>{1, 0}));
}

TEST(Indexing, ErrorsNamePositionValueAndRange) {
  const Tensor x = Tensor::zeros({2, 3});
  const auto index = [](const std::vector<int64_t>& values, const Shape& shape) {
    return Tensor::from(values, shape);
  };
  test::expect_error<InvalidArgument>(
      [&] {
        gather(x, 1, index({0, 1, 3, 0}, {2, 2}));
      },
      "[gather] index 2 of shape [2, 2] is 3: expected one in [0, 3)");
  test::expect_error<InvalidArgument>(
      [&] {
        index_select(x, 0, index({0, -1}, {2}));
      },
      "[index_select] index 1 of shape [2] is -1: expected one in [0, 2)");
  test::expect_error<InvalidArgument>([&] { one_hot(index({4}, {1}), 4); },
                                      "[one_hot] index 0 of shape [1] is 4: expected one in [0, 4)");
  test::expect_error<InvalidArgument>([&] { one_hot(index({4}, {1}), 0); },
                                      "[one_hot] expected a positive number of classes, got 0");
  test::expect_error<InvalidArgument>(
      [&] {
        gather(x, 1, index({0, 0, 0}, {3, 1}));
      },
      "[gather] index of shape [3, 1] does not fit [2, 3] along dimension 1");
  test::expect_error<InvalidArgument>([&] { gather(x, 1, index({0}, {1})); },
                                      "[gather] index of shape [1] does not fit [2, 3]");
  test::expect_error<InvalidArgument>([&] { gather(x, 2, index({0}, {1, 1})); }, "dimension 2 is outside");
  test::expect_error<InvalidArgument>(
      [&] {
        index_select(x, 0, index({0}, {1, 1}));
      },
      "[index_select] expected indices [n], got shape [1, 1]");
  test::expect_error<InvalidArgument>(
      [&] {
        gather(x, 1, Tensor::zeros({2, 3}));
      },
      "[gather] expected i64 indices");
}

}  // namespace

test::OpRows indexing_rows() {
  return {{.name = "gather",
           .checked = gather_case({2, 5, 3}, 1, {2, 4, 3}),
           .timed =
               [] {
                 return gather_case({1024, 1024}, 1, {1024, 1024});
               }},
          {.name = "index_select",
           .checked = select_case({2, 5, 3}, 1, 6),
           .timed =
               [] {
                 return select_case({4096, 1024}, 0, 4096);
               }},
          {.name = "one_hot",
           .checked = one_hot_case(9, 4),
           .timed = [] { return one_hot_case(4096, 1000); },
           .element_types = "i64"}};
}

}  // namespace lockstep::ops
