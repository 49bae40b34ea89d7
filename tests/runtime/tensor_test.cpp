#include "runtime/tensor.h"

#include <gtest/gtest.h>

#include <limits>

#include "runtime/autograd.h"
#include "runtime/error.h"

namespace lockstep {
namespace {

using Floats = std::vector<float>;

/// [[0, 1, 2], [3, 4, 5]]
Tensor two_by_three() {
  return Tensor::from<float>({0, 1, 2, 3, 4, 5}, {2, 3});
}

TEST(Tensor, UndefinedUntilAssigned) {
  Tensor tensor;
  EXPECT_FALSE(tensor.defined());
  EXPECT_THROW(tensor.shape(), Error);
  tensor = Tensor::scalar(2);
  EXPECT_TRUE(tensor.defined());
}

TEST(Tensor, FromKeepsValuesShapeAndType) {
  const Tensor tensor = Tensor::from<int32_t>({1, 2, 3, 4}, {2, 2});
  EXPECT_EQ(tensor.dtype(), DType::kI32);
  EXPECT_EQ(tensor.shape(), (Shape{2, 2}));
  EXPECT_EQ(tensor.strides(), (Shape{2, 1}));
  EXPECT_EQ(tensor.count(), 4);
  EXPECT_EQ(tensor.nbytes(), 16U);
  EXPECT_EQ(tensor.device(), kCpu);
  EXPECT_TRUE(tensor.is_contiguous());
  EXPECT_EQ(tensor.layout(), nullptr);
  EXPECT_EQ(tensor.to_vector<int32_t>(), (std::vector<int32_t>{1, 2, 3, 4}));
  EXPECT_THROW(Tensor::from<float>({1, 2, 3}, {2, 2}), InvalidArgument);
}

TEST(Tensor, FillsEveryType) {
  for (const DType dtype :
       {DType::kF32, DType::kF16, DType::kBF16, DType::kF64, DType::kI64, DType::kI32, DType::kU8}) {
    const Tensor tensor = Tensor::full({3}, 5, dtype);
    EXPECT_EQ(tensor.dtype(), dtype);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(tensor.narrow(0, i, 1).item(), 5.0) << dtype;
  }
  EXPECT_EQ(Tensor::zeros({2}).to_vector<float>(), (Floats{0, 0}));
}

TEST(Tensor, ItemNeedsOneElement) {
  EXPECT_EQ(Tensor::scalar(2.5F).item(), 2.5);
  EXPECT_EQ(Tensor::full({1, 1}, 3).item(), 3);
  EXPECT_THROW(two_by_three().item(), InvalidArgument);
}

TEST(Tensor, DataChecksTheType) {
  const Tensor tensor = two_by_three();
  EXPECT_EQ(tensor.data<float>()[4], 4);
  EXPECT_EQ(static_cast<void*>(tensor.data<float>()), tensor.raw());
  try {
    tensor.data<double>();
    FAIL() << "no exception";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "[tensor] element type is f32, asked for f64");
  }
}

TEST(Tensor, EmptyTensorsWork) {
  const Tensor none = Tensor::zeros({0, 3});
  EXPECT_EQ(none.count(), 0);
  EXPECT_TRUE(none.to_vector<float>().empty());
  EXPECT_EQ(none.clone().shape(), (Shape{0, 3}));
  EXPECT_EQ(none.view({3, 0}).count(), 0);
  EXPECT_THROW(Tensor::empty({-1}), InvalidArgument);
}

TEST(Tensor, CopiesOfAHandleShareMemory) {
  const Tensor a = two_by_three();
  Tensor b = a;
  b.fill(9);
  EXPECT_EQ(a.to_vector<float>(), Floats(6, 9));
  EXPECT_TRUE(a.same_memory(b));
}

TEST(Tensor, OnPlacesATensorInsideAStorage) {
  const auto storage = Storage::allocate(64, kCpu);
  Tensor first = Tensor::on(storage, 0, {8}, DType::kF32);
  Tensor second = Tensor::on(storage, 32, {2, 4}, DType::kF32);
  first.fill(1);
  second.fill(2);
  EXPECT_EQ(first.to_vector<float>(), Floats(8, 1));
  EXPECT_EQ(Tensor::on(storage, 28, {2}, DType::kF32).to_vector<float>(), (Floats{1, 2}));
  EXPECT_FALSE(first.same_memory(second));
  EXPECT_THROW(Tensor::on(storage, 36, {8}, DType::kF32), InvalidArgument);
  EXPECT_THROW(Tensor::on(storage, 2, {1}, DType::kF32), InvalidArgument);
}

// Sizes that wrap around would make a small block of a large tensor.
TEST(Tensor, ImpossibleSizesAreRefused) {
  EXPECT_THROW(Tensor::empty({int64_t{1} << 62}), InvalidArgument);
  const auto storage = Storage::allocate(64, kCpu);
  EXPECT_THROW(Tensor::on(storage, 0, {int64_t{1} << 62}, DType::kF32), InvalidArgument);
  EXPECT_THROW(Tensor::on(storage, ~size_t{0} - 3, {1}, DType::kF32), InvalidArgument);
  EXPECT_THROW(Tensor::on(storage, 4, {-1}, DType::kF32), InvalidArgument);
  EXPECT_THROW(two_by_three().view({-2, -3}), InvalidArgument);
  EXPECT_THROW(two_by_three().view({int64_t{1} << 32, int64_t{1} << 32, -1}), InvalidArgument);
  EXPECT_THROW(Tensor::scalar(1).expand({-4}), InvalidArgument);
  EXPECT_THROW(two_by_three().narrow(0, std::numeric_limits<int64_t>::max(), 1), InvalidArgument);
}

TEST(Tensor, ElementsOfAnotherDeviceAreNotTouched) {
  float memory[2] = {1, 2};
  const auto storage = Storage::wrap(memory, sizeof(memory), {DeviceKind::kCuda, 0}, {});
  Tensor elsewhere = Tensor::on(storage, 0, {2}, DType::kF32);
  Tensor here = Tensor::zeros({2});
  EXPECT_THROW(elsewhere.to_vector<float>(), InvalidArgument);
  EXPECT_THROW(elsewhere.add_in_place(here), InvalidArgument);
  EXPECT_THROW(here.add_in_place(elsewhere), InvalidArgument);
}

TEST(TensorView, ViewKeepsMemoryAndFillsInOneExtent) {
  const Tensor tensor = two_by_three();
  const Tensor flat = tensor.view({-1});
  EXPECT_EQ(flat.shape(), (Shape{6}));
  EXPECT_EQ(flat.raw(), tensor.raw());
  EXPECT_EQ(tensor.view({3, -1}).shape(), (Shape{3, 2}));
  EXPECT_EQ(Tensor::scalar(1).view({1, 1}).shape(), (Shape{1, 1}));
  EXPECT_EQ(Tensor::full({1}, 4).view({}).item(), 4);
  EXPECT_THROW(tensor.view({4, -1}), InvalidArgument);
  EXPECT_THROW(tensor.view({-1, -1}), InvalidArgument);
  EXPECT_THROW(tensor.view({5}), InvalidArgument);
  EXPECT_THROW(tensor.permute({1, 0}).view({6}), InvalidArgument);
}

TEST(TensorView, NarrowTakesARange) {
  const Tensor tensor = two_by_three();
  EXPECT_EQ(tensor.narrow(1, 1, 2).to_vector<float>(), (Floats{1, 2, 4, 5}));
  EXPECT_EQ(tensor.narrow(-1, 1, 2).to_vector<float>(), (Floats{1, 2, 4, 5}));
  EXPECT_FALSE(tensor.narrow(1, 1, 2).is_contiguous());
  const Tensor row = tensor.narrow(0, 1, 1);
  EXPECT_TRUE(row.is_contiguous());
  EXPECT_EQ(row.to_vector<float>(), (Floats{3, 4, 5}));
  EXPECT_EQ(row.narrow(1, 2, 1).item(), 5);
  EXPECT_EQ(tensor.narrow(0, 2, 0).count(), 0);
  EXPECT_THROW(tensor.narrow(1, 2, 2), InvalidArgument);
  EXPECT_THROW(tensor.narrow(1, -1, 2), InvalidArgument);
  EXPECT_THROW(tensor.narrow(2, 0, 1), InvalidArgument);
}

TEST(TensorView, PermuteReordersDimensions) {
  const Tensor tensor = Tensor::from<float>({0, 1, 2, 3, 4, 5, 6, 7}, {2, 1, 4}).permute({2, 0, 1});
  EXPECT_EQ(tensor.shape(), (Shape{4, 2, 1}));
  EXPECT_EQ(tensor.strides(), (Shape{1, 4, 4}));
  EXPECT_EQ(tensor.to_vector<float>(), (Floats{0, 4, 1, 5, 2, 6, 3, 7}));
  EXPECT_THROW(two_by_three().permute({0}), InvalidArgument);
  EXPECT_THROW(two_by_three().permute({0, 0}), InvalidArgument);
  EXPECT_THROW(two_by_three().permute({0, 2}), InvalidArgument);
}

TEST(TensorView, ExpandRepeatsWithoutMemory) {
  const Tensor column = Tensor::from<float>({1, 2}, {2, 1});
  const Tensor wide = column.expand({3, 2, 2});
  EXPECT_EQ(wide.strides(), (Shape{0, 1, 0}));
  EXPECT_EQ(wide.to_vector<float>(), (Floats{1, 1, 2, 2, 1, 1, 2, 2, 1, 1, 2, 2}));
  EXPECT_EQ(wide.raw(), column.raw());
  EXPECT_EQ(Tensor::scalar(7).expand({2}).to_vector<float>(), (Floats{7, 7}));
  EXPECT_THROW(column.expand({3, 1}), InvalidArgument);
  EXPECT_THROW(column.expand({2}), InvalidArgument);
}

TEST(TensorView, StrideOfASingleElementDoesNotMatter) {
  EXPECT_TRUE(two_by_three().narrow(1, 0, 1).narrow(0, 0, 1).is_contiguous());
  EXPECT_TRUE(Tensor::zeros({1, 4}).permute({1, 0}).is_contiguous());
  EXPECT_FALSE(Tensor::zeros({4}).expand({2, 4}).is_contiguous());
}

TEST(Tensor, SameMemoryNeedsTheSameExtent) {
  const Tensor tensor = two_by_three();
  EXPECT_TRUE(tensor.same_memory(tensor.detach()));
  EXPECT_TRUE(tensor.narrow(0, 0, 2).same_memory(tensor));
  EXPECT_FALSE(tensor.narrow(0, 0, 1).same_memory(tensor));
  EXPECT_FALSE(tensor.narrow(0, 0, 1).same_memory(tensor.narrow(0, 1, 1)));
  EXPECT_FALSE(tensor.clone().same_memory(tensor));
}

TEST(Tensor, GradientsAreForF32LeavesOnly) {
  Tensor leaf = two_by_three();
  EXPECT_FALSE(leaf.requires_grad());
  EXPECT_THROW(leaf.leaf_gradient(), InvalidArgument);
  leaf.set_requires_grad(true);
  EXPECT_TRUE(leaf.requires_grad());
  EXPECT_TRUE(leaf.is_leaf());
  EXPECT_FALSE(leaf.grad().defined());
  EXPECT_FALSE(leaf.detach().requires_grad());
  EXPECT_FALSE(leaf.view({6}).requires_grad());
  leaf.set_requires_grad(false);
  EXPECT_FALSE(leaf.requires_grad());
  EXPECT_THROW(Tensor::zeros({2}, DType::kI64).set_requires_grad(true), InvalidArgument);
}

TEST(Tensor, AResultCannotBecomeALeaf) {
  Tensor leaf = two_by_three();
  leaf.set_requires_grad(true);
  Tensor result = record("twice", two_by_three(), {leaf}, [](BackwardContext&) {});
  EXPECT_FALSE(result.is_leaf());
  EXPECT_TRUE(result.requires_grad());
  EXPECT_THROW(result.set_requires_grad(true), InvalidArgument);
  EXPECT_THROW(result.set_requires_grad(false), InvalidArgument);
}

}  // namespace
}  // namespace lockstep
