#include "ops/operands.h"

#include <gtest/gtest.h>

#include "ops/batch_norm/batch_norm.h"
#include "ops/conv2d/conv2d.h"
#include "ops/linear/linear.h"
#include "ops/matmul/matmul.h"
#include "tests/support/padded_layout.h"

namespace lockstep::ops {
namespace {

TEST(Operands, ChecksNameOperationTypeAndShape) {
  EXPECT_NO_THROW(check_f32("op", Tensor::zeros({2})));
  try {
    check_f32("relu", Tensor::zeros({2, 3}, DType::kI64));
    FAIL() << "an i64 tensor was accepted";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "[relu] expected f32, got i64 of shape [2, 3]; cast() it first");
  }
  EXPECT_THROW(check_f32("relu", Tensor()), InvalidArgument);
  EXPECT_NO_THROW(check_cpu("op", Tensor::zeros({2})));
}

// Reading device memory from the host would end the process.
TEST(Operands, EveryOperandOfACpuOperationMustBeThere) {
  std::vector<float> memory(4);
  const auto elsewhere = [&](const Shape& shape) {
    const auto storage =
        Storage::wrap(memory.data(), memory.size() * sizeof(float), {DeviceKind::kCuda, 0}, {});
    return Tensor::on(storage, 0, shape, DType::kF32);
  };
  const Tensor image = Tensor::zeros({2, 2, 1, 1});
  const Tensor kernel = Tensor::zeros({2, 2, 1, 1});
  const Tensor matrix = Tensor::zeros({2, 2});
  const Tensor row = Tensor::full({2}, 1);
  EXPECT_THROW(conv2d(image, elsewhere({2, 2, 1, 1}), {}), DeviceError);
  EXPECT_THROW(conv2d(image, kernel, elsewhere({2})), DeviceError);
  EXPECT_THROW(linear(matrix, elsewhere({2, 2})), DeviceError);
  EXPECT_THROW(linear(matrix, matrix, elsewhere({2})), DeviceError);
  EXPECT_THROW(matmul(matrix, elsewhere({2, 2})), DeviceError);
  EXPECT_THROW(batch_norm(matrix, row, elsewhere({2})), DeviceError);
  EXPECT_THROW(batch_norm_inference(matrix, row, row, row, elsewhere({2})), DeviceError);
}

TEST(Operands, DimensionsCountFromTheEnd) {
  const Shape shape{2, 3, 4};
  EXPECT_EQ(check_dim("slice", 2, shape), 2);
  EXPECT_EQ(check_dim("slice", -3, shape), 0);
  for (const int wrong : {3, -4}) EXPECT_THROW(check_dim("slice", wrong, shape), InvalidArgument);
  EXPECT_THROW(check_dim("slice", 0, {}), InvalidArgument) << "a scalar has no dimension";
}

TEST(Operands, ExtentsBetweenDimensionsAreMultiplied) {
  EXPECT_EQ(count_between({2, 3, 4, 5}, 1, 3), 12);
  EXPECT_EQ(count_between({2, 3}, 0, 0), 1);
}

TEST(Operands, TargetsOutsideTheClassesAreRefused) {
  const Tensor targets = Tensor::from<int64_t>({0, -1, 2, -1}, {4});
  EXPECT_EQ(count_valid_targets("loss", targets, 3, -1), 2);
  EXPECT_THROW(count_valid_targets("loss", targets, 2, -1), InvalidArgument);
  EXPECT_THROW(count_valid_targets("loss", targets, 3, 0), InvalidArgument);
}

TEST(Operands, LogitsAndTargetsMustFitEachOther) {
  const Tensor logits = Tensor::zeros({4, 3});
  EXPECT_NO_THROW(check_logits_and_targets("loss", logits, Tensor::zeros({4}, DType::kI64)));
  EXPECT_THROW(check_logits_and_targets("loss", logits, Tensor::zeros({4})), InvalidArgument)
      << "f32 targets";
  EXPECT_THROW(check_logits_and_targets("loss", Tensor::zeros({4, 0}), Tensor::zeros({4}, DType::kI64)),
               InvalidArgument);
  try {
    check_logits_and_targets("loss", logits, Tensor::zeros({5}, DType::kI64));
    FAIL() << "targets of another batch were accepted";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "[loss] expected logits [n, classes] and targets [n], got [4, 3] and [5]");
  }
}

TEST(Operands, SameLayoutComparesPlacesOfElements) {
  const Tensor a = Tensor::zeros({2, 3});
  EXPECT_TRUE(same_layout(a, Tensor::zeros({2, 3})));
  EXPECT_FALSE(same_layout(a, Tensor::zeros({3, 2}))) << "other shape";
  EXPECT_FALSE(same_layout(a, Tensor::zeros({3, 2}).permute({1, 0}))) << "strided";
  const Tensor blocked = test::padded_tensor({1, 2, 3, 4, 5, 6}, {2, 3}, "a");
  EXPECT_FALSE(same_layout(a, blocked));
  EXPECT_TRUE(same_layout(blocked, test::padded_tensor({1, 2, 3, 4, 5, 6}, {2, 3}, "a")));
  EXPECT_FALSE(same_layout(blocked, test::padded_tensor({1, 2, 3, 4, 5, 6}, {2, 3}, "b")));
}

TEST(Operands, DenseKeepsOpaqueAndPacksStrided) {
  const Tensor blocked = test::padded_tensor({1, 2, 3, 4, 5, 6}, {2, 3}, "a");
  EXPECT_TRUE(dense(blocked).same_memory(blocked));
  EXPECT_EQ(stored_count(blocked), 8);
  EXPECT_EQ(empty_like(blocked).layout(), blocked.layout());
  const Tensor transposed = Tensor::from<float>({1, 2, 3, 4, 5, 6}, {2, 3}).permute({1, 0});
  EXPECT_EQ(dense(transposed).to_vector<float>(), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  EXPECT_TRUE(dense(transposed).is_contiguous());
  EXPECT_TRUE(plain_contiguous(blocked).is_contiguous());
}

}  // namespace
}  // namespace lockstep::ops
