#include "ops/reshape/reshape.h"

#include <gtest/gtest.h>

#include <numeric>

#include "runtime/autograd.h"
#include "tests/ops/op_rows.h"
#include "tests/support/padded_layout.h"

namespace lockstep::ops {
namespace {

using test::Array;

Array reference_permute(const Array& x, const std::vector<int>& order) {
  Shape shape;
  for (const int dim : order) shape.push_back(x.shape[dim]);
  Array result = test::full(shape, 0);
  test::for_each_index(shape, [&](const std::vector<int64_t>& index) {
    std::vector<int64_t> source(index.size());
    for (size_t i = 0; i < order.size(); ++i) source[static_cast<size_t>(order[i])] = index[i];
    result.at(index) = x.at(source);
  });
  return result;
}

test::OpCase reshape_case(const Shape& from, const Shape& to) {
  return {.name = to_text("reshape ", from, " to ", to),
          .inputs = {test::random_array(from, 1)},
          .run = [=](const std::vector<Tensor>& x) { return reshape(x[0], to); },
          .reference =
              [=](const std::vector<Array>& x) {
                return Array{to, x[0].values};
              }};
}

test::OpCase permute_case(const Shape& shape, const std::vector<int>& order) {
  return {.name = to_text("permute ", shape),
          .inputs = {test::random_array(shape, 1)},
          .run = [=](const std::vector<Tensor>& x) { return permute(x[0], order); },
          .reference = [=](const std::vector<Array>& x) { return reference_permute(x[0], order); }};
}

/// A transposed operand, so that there is something to copy.
test::OpCase contiguous_case(const Shape& shape) {
  test::OpCase op = permute_case(shape, {1, 0});
  op.name = "contiguous";
  op.run = [](const std::vector<Tensor>& x) { return contiguous(transpose(x[0])); };
  return op;
}

TEST(Reshape, ValuesAndGradients) {
  for (const auto& [from, to] : std::vector<std::pair<Shape, Shape>>{
           {{2, 6}, {3, 4}}, {{2, 3, 4}, {24}}, {{5}, {1, 5, 1}}, {{}, {1}}, {{0, 3}, {3, 0}}}) {
    test::check_op(reshape_case(from, to));
  }
}

TEST(Reshape, PermuteValuesAndGradients) {
  for (const auto& [shape, order] :
       std::vector<std::pair<Shape, std::vector<int>>>{{{3, 4}, {1, 0}},
                                                       {{2, 3, 4}, {2, 0, 1}},
                                                       {{2, 3, 4, 5}, {0, 2, 3, 1}},
                                                       {{1, 3}, {1, 0}},
                                                       {{0, 2}, {1, 0}}}) {
    test::check_op(permute_case(shape, order));
  }
}

TEST(Reshape, SharesMemoryWherePossible) {
  const Tensor x = Tensor::zeros({2, 3, 4});
  EXPECT_EQ(reshape(x, {6, -1}).shape(), (Shape{6, 4}));
  EXPECT_EQ(reshape(x, {24}).raw(), x.raw());
  EXPECT_EQ(flatten(x).shape(), (Shape{2, 12}));
  EXPECT_EQ(flatten(x, 0).shape(), (Shape{24}));
  EXPECT_EQ(transpose(x).shape(), (Shape{2, 4, 3}));
  EXPECT_EQ(transpose(x, 0, 2).raw(), x.raw());
  EXPECT_TRUE(contiguous(x).same_memory(x));
}

TEST(Reshape, PacksEveryElementSize) {
  std::vector<uint8_t> bytes(60 * 70);
  std::iota(bytes.begin(), bytes.end(), 0);
  const Tensor u8 = Tensor::from(bytes, {60, 70});
  const std::vector<uint8_t> expected = u8.permute({1, 0}).to_vector<uint8_t>();
  EXPECT_EQ(contiguous(transpose(u8)).to_vector<uint8_t>(), expected);
  std::vector<int64_t> longs(bytes.begin(), bytes.end());
  const std::vector<int64_t> expected_longs(expected.begin(), expected.end());
  EXPECT_EQ(contiguous(transpose(Tensor::from(longs, {60, 70}))).to_vector<int64_t>(), expected_longs);
  const Tensor halves = Tensor::from<Half>({Half(1), Half(2), Half(3), Half(4)}, {2, 2});
  EXPECT_EQ(static_cast<float>(contiguous(transpose(halves)).to_vector<Half>()[1]), 3);
}

TEST(Reshape, PacksLargeAndExpandedViews) {
  const Tensor x = test::to_tensor(test::random_array({7, 65, 130}, 2));
  const std::vector<std::vector<int>> orders{{2, 1, 0}, {1, 0, 2}, {0, 2, 1}, {2, 0, 1}};
  for (const std::vector<int>& order : orders) {
    EXPECT_EQ(contiguous(permute(x, order)).to_vector<float>(), permute(x, order).clone().to_vector<float>());
  }
  const Tensor row = Tensor::from<float>({1, 2}, {2});
  EXPECT_EQ(contiguous(row.expand({2, 2})).to_vector<float>(), (std::vector<float>{1, 2, 1, 2}));
}

TEST(Reshape, OpaqueOperandsBecomePlain) {
  Tensor x = test::padded_tensor({1, 2, 3, 4, 5, 6}, {2, 3});
  x.set_requires_grad(true);
  const Tensor y = flatten(transpose(x), 0);
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  backward(y, {.seed = Tensor::from<float>({1, 2, 3, 4, 5, 6}, {6}), .between_nodes = {}});
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{1, 3, 5, 2, 4, 6}));
}

TEST(Reshape, ErrorsNameBothShapes) {
  try {
    reshape(Tensor::zeros({2, 3}), {4, 2});
    FAIL() << "a shape of another count was accepted";
  } catch (const InvalidArgument& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("[2, 3]"), std::string::npos) << text;
    EXPECT_NE(text.find("[4, 2]"), std::string::npos) << text;
  }
  EXPECT_THROW(permute(Tensor::zeros({2, 3}), {0, 0}), InvalidArgument);
  EXPECT_THROW(transpose(Tensor::zeros({2, 3}), 0, 2), InvalidArgument);
  EXPECT_THROW(flatten(Tensor::zeros({2, 3}), 2), InvalidArgument);
}

}  // namespace

test::OpRows reshape_rows() {
  return {{.name = "reshape",
           .checked = reshape_case({2, 6}, {3, 4}),
           .timed =
               [] {
                 return reshape_case({2048, 2048}, {1024, 4096});
               }},
          {.name = "permute",
           .checked = permute_case({2, 3, 4}, {2, 0, 1}),
           .timed =
               [] {
                 return permute_case({2048, 2048}, {1, 0});
               }},
          {.name = "contiguous", .checked = contiguous_case({3, 4}), .timed = [] {
             return contiguous_case({2048, 2048});
           }}};
}

}  // namespace lockstep::ops
