#include "ops/operands.h"

#include <gtest/gtest.h>

#include <cstring>

namespace lockstep::ops {
namespace {

std::shared_ptr<const OpaqueLayout> padded_layout(const char* name) {
  auto layout = std::make_shared<OpaqueLayout>();
  layout->name = name;
  layout->nbytes = 8 * sizeof(float);
  layout->unpack = [](const void* opaque, void* plain) { std::memcpy(plain, opaque, 6 * sizeof(float)); };
  return layout;
}

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

TEST(Operands, SameLayoutComparesPlacesOfElements) {
  const Tensor a = Tensor::zeros({2, 3});
  EXPECT_TRUE(same_layout(a, Tensor::zeros({2, 3})));
  EXPECT_FALSE(same_layout(a, Tensor::zeros({3, 2}))) << "other shape";
  EXPECT_FALSE(same_layout(a, Tensor::zeros({3, 2}).permute({1, 0}))) << "strided";
  const Tensor blocked = Tensor::opaque({2, 3}, DType::kF32, padded_layout("a"));
  EXPECT_FALSE(same_layout(a, blocked));
  EXPECT_TRUE(same_layout(blocked, Tensor::opaque({2, 3}, DType::kF32, padded_layout("a"))));
  EXPECT_FALSE(same_layout(blocked, Tensor::opaque({2, 3}, DType::kF32, padded_layout("b"))));
}

TEST(Operands, DenseKeepsOpaqueAndPacksStrided) {
  const Tensor blocked = Tensor::opaque({2, 3}, DType::kF32, padded_layout("a"));
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
