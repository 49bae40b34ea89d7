// Copies, changes in place and opaque layouts.
#include <gtest/gtest.h>

#include <numeric>

#include "runtime/autograd.h"
#include "runtime/error.h"
#include "runtime/tensor.h"
#include "runtime/threads.h"
#include "tests/runtime/reversed_layout.h"

namespace lockstep {
namespace {

using Floats = std::vector<float>;

Tensor counting(const Shape& shape) {
  Floats values(static_cast<size_t>(shape.count()));
  std::iota(values.begin(), values.end(), 0.0F);
  return Tensor::from(values, shape);
}

TEST(TensorCopy, ContiguousCopiesOnlyWhatIsStrided) {
  const Tensor tensor = counting({2, 3});
  EXPECT_TRUE(tensor.contiguous().same_memory(tensor));
  const Tensor packed = tensor.permute({1, 0}).contiguous();
  EXPECT_TRUE(packed.is_contiguous());
  EXPECT_EQ(packed.storage()->nbytes(), 6 * sizeof(float));
  EXPECT_EQ(packed.view({6}).to_vector<float>(), (Floats{0, 3, 1, 4, 2, 5}));
}

TEST(TensorCopy, CloneIsIndependent) {
  const Tensor tensor = counting({2, 3});
  Tensor copy = tensor.narrow(1, 0, 2).clone();
  copy.fill(7);
  EXPECT_EQ(tensor.to_vector<float>(), (Floats{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(copy.strides(), (Shape{2, 1}));
}

TEST(TensorCopy, CopyFromReachesEveryPairOfStrides) {
  Tensor target = Tensor::zeros({3, 2});
  target.copy_from(counting({2, 3}).permute({1, 0}));
  EXPECT_EQ(target.to_vector<float>(), (Floats{0, 3, 1, 4, 2, 5}));

  Tensor frame = Tensor::zeros({2, 4});
  frame.narrow(1, 1, 2).copy_from(counting({2, 2}));
  EXPECT_EQ(frame.to_vector<float>(), (Floats{0, 0, 1, 0, 0, 2, 3, 0}));

  Tensor transposed = Tensor::zeros({4, 2});
  transposed.permute({1, 0}).narrow(1, 0, 2).copy_from(counting({2, 3}).narrow(1, 1, 2));
  EXPECT_EQ(transposed.to_vector<float>(), (Floats{1, 4, 2, 5, 0, 0, 0, 0}));

  Tensor repeated = Tensor::zeros({2, 2});
  repeated.copy_from(Tensor::from<float>({8, 9}, {2}).expand({2, 2}));
  EXPECT_EQ(repeated.to_vector<float>(), (Floats{8, 9, 8, 9}));
}

TEST(TensorCopy, CopyFromNeedsEqualShapeAndType) {
  Tensor target = Tensor::zeros({2, 3});
  EXPECT_THROW(target.copy_from(Tensor::zeros({3, 2})), InvalidArgument);
  EXPECT_THROW(target.copy_from(Tensor::zeros({2, 3}, DType::kF64)), InvalidArgument);
}

TEST(TensorCopy, StridedCopiesWorkForEveryElementSize) {
  for (const DType dtype :
       {DType::kF32, DType::kF16, DType::kBF16, DType::kF64, DType::kI64, DType::kI32, DType::kU8}) {
    Tensor tensor = Tensor::zeros({2, 2}, dtype);
    tensor.narrow(0, 0, 1).fill(3);
    const Tensor copy = tensor.permute({1, 0}).clone();
    EXPECT_EQ(copy.narrow(0, 1, 1).narrow(1, 0, 1).item(), 3) << dtype;
    EXPECT_EQ(copy.narrow(0, 1, 1).narrow(1, 1, 1).item(), 0) << dtype;
  }
}

TEST(TensorCopy, ToItsOwnDeviceIsTheSameTensor) {
  const Tensor tensor = counting({2});
  EXPECT_TRUE(tensor.to(kCpu).same_memory(tensor));
}

TEST(TensorInPlace, AddIsElementWise) {
  Tensor tensor = counting({2, 2});
  tensor.add_in_place(Tensor::full({2, 2}, 10));
  EXPECT_EQ(tensor.to_vector<float>(), (Floats{10, 11, 12, 13}));
  EXPECT_THROW(tensor.add_in_place(Tensor::zeros({4})), InvalidArgument);
  EXPECT_THROW(tensor.add_in_place(Tensor::zeros({2, 2}, DType::kF64)), InvalidArgument);
  EXPECT_THROW(tensor.add_in_place(Tensor::zeros({2, 2}, DType::kBF16)), InvalidArgument);
  EXPECT_THROW(tensor.add_in_place(counting({2, 2}).permute({1, 0})), InvalidArgument);
}

TEST(TensorInPlace, LargeTensorsAreSharedAmongThreadsWithoutAGap) {
  configure_compute_threads(3);
  Tensor tensor = Tensor::full({200003}, 1);
  tensor.add_in_place(Tensor::full({200003}, 2));
  EXPECT_EQ(tensor.to_vector<float>(), Floats(200003, 3));
}

TEST(TensorInPlace, EveryChangeBumpsTheVersionOfAllViews) {
  Tensor tensor = Tensor::empty({2, 3});
  const Tensor view = tensor.narrow(0, 1, 1);
  uint32_t version = view.version();
  const auto changed = [&] { return view.version() != std::exchange(version, view.version()); };
  tensor.fill(1);
  EXPECT_TRUE(changed());
  tensor.copy_from(counting({2, 3}));
  EXPECT_TRUE(changed());
  tensor.add_in_place(counting({2, 3}));
  EXPECT_TRUE(changed());
  tensor.bump_version();
  EXPECT_TRUE(changed());
  tensor.clone().fill(1);
  EXPECT_FALSE(changed());
}

TEST(OpaqueTensor, MovesAsBytesAndUnpacksOnRequest) {
  const Tensor tensor = reversed({1, 2, 3, 4}, {2, 2});
  EXPECT_EQ(tensor.layout()->name, "reversed");
  EXPECT_EQ(tensor.nbytes(), 20U) << "padding included";
  EXPECT_EQ(tensor.count(), 4);
  EXPECT_FALSE(tensor.is_contiguous());
  EXPECT_EQ(static_cast<float*>(tensor.raw())[1], 4);
  EXPECT_EQ(plain(tensor).to_vector<float>(), (Floats{1, 2, 3, 4}));
  EXPECT_EQ(tensor.contiguous().to_vector<float>(), (Floats{1, 2, 3, 4}));
  EXPECT_EQ(tensor.clone().layout(), nullptr);
  EXPECT_EQ(tensor.to_vector<float>(), (Floats{1, 2, 3, 4}));
}

TEST(OpaqueTensor, IsCopiedIntoPlainAndStridedMemory) {
  const Tensor tensor = reversed({1, 2, 3, 4}, {2, 2});
  Tensor packed = Tensor::zeros({2, 2});
  packed.copy_from(tensor);
  EXPECT_EQ(packed.to_vector<float>(), (Floats{1, 2, 3, 4}));
  Tensor transposed = Tensor::zeros({2, 2});
  transposed.permute({1, 0}).copy_from(tensor);
  EXPECT_EQ(transposed.to_vector<float>(), (Floats{1, 3, 2, 4}));
}

TEST(OpaqueTensor, RefusesPlainAccessAndViews) {
  const Tensor tensor = reversed({1, 2, 3, 4}, {2, 2});
  EXPECT_THROW(tensor.view({4}), InvalidArgument);
  EXPECT_THROW(tensor.narrow(0, 0, 1), InvalidArgument);
  EXPECT_THROW(tensor.permute({1, 0}), InvalidArgument);
  try {
    tensor.data<float>();
    FAIL() << "no exception";
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("reversed"), std::string::npos) << error.what();
  }
}

TEST(OpaqueTensor, AddsInPlaceWithinOneLayout) {
  Tensor tensor = reversed({1, 2, 3, 4}, {2, 2});
  tensor.add_in_place(reversed({10, 20, 30, 40}, {2, 2}));
  EXPECT_EQ(tensor.to_vector<float>(), (Floats{11, 22, 33, 44}));
  EXPECT_THROW(tensor.add_in_place(Tensor::zeros({2, 2})), InvalidArgument);
  EXPECT_THROW(Tensor::zeros({2, 2}).add_in_place(tensor), InvalidArgument);
}

TEST(TensorCopy, SumsOfBf16AreRoundedOnceToNearestEven) {
  const auto bf16 = [](float value) { return Tensor::full({3}, value, DType::kBF16); };
  Tensor sum = bf16(256);
  sum.add_in_place(bf16(1));
  EXPECT_EQ(static_cast<float>(sum.to_vector<BFloat16>()[2]), 256) << "half of the spacing, 2: to even";
  sum.add_in_place(bf16(3));
  EXPECT_EQ(static_cast<float>(sum.to_vector<BFloat16>()[2]), 260);
}

}  // namespace
}  // namespace lockstep
