#include "train/weights_hash.h"

#include <gtest/gtest.h>

#include <set>

namespace lockstep::train {
namespace {

std::vector<NamedTensor> weights() {
  return {{"a", Tensor::from<float>({1, 2, 3, 4}, {2, 2})}, {"b", Tensor::from<float>({0, 5}, {2})}};
}

TEST(WeightsHash, IsAFunctionOfTheContent) {
  const WeightsHash hash = hash_weights(weights());
  const WeightsHash again = hash_weights(weights());
  EXPECT_EQ(hash.total, again.total);
  ASSERT_EQ(hash.tensors.size(), 2U);
  EXPECT_EQ(hash.tensors[0].first, "a");
  EXPECT_EQ(hash.tensors, again.tensors);
}

TEST(WeightsHash, DoesNotDependOnTheMemoryLayout) {
  std::vector<NamedTensor> strided = weights();
  strided[0].value = Tensor::from<float>({1, 3, 2, 4}, {2, 2}).permute({1, 0});
  EXPECT_EQ(hash_weights(strided).total, hash_weights(weights()).total);
}

TEST(WeightsHash, ChangesWithEverythingThatCounts) {
  std::vector<std::vector<NamedTensor>> variants(7);
  for (std::vector<NamedTensor>& variant : variants) variant = weights();  // a copy would share memory
  variants[1][0].value.data<float>()[3] = 5;
  variants[2][1].value.data<float>()[0] = -0.0F;
  variants[3][0].name = "c";
  variants[4][0].value = Tensor::from<float>({1, 2, 3, 4}, {4});
  variants[5][1].value = Tensor::from<int32_t>({0, 0x40a00000}, {2});  // the same bytes as 0, 5
  std::swap(variants[6][0], variants[6][1]);
  std::set<uint64_t> totals;
  for (const std::vector<NamedTensor>& variant : variants) totals.insert(hash_weights(variant).total);
  EXPECT_EQ(totals.size(), variants.size());
}

TEST(WeightsHash, OnlyTheChangedTensorsHashChanges) {
  std::vector<NamedTensor> changed = weights();
  changed[1].value.data<float>()[1] = 6;
  const WeightsHash before = hash_weights(weights());
  const WeightsHash after = hash_weights(changed);
  EXPECT_EQ(after.tensors[0], before.tensors[0]);
  EXPECT_NE(after.tensors[1], before.tensors[1]);
}

TEST(WeightsHash, TakesScalarsAndEmptyTensors) {
  const WeightsHash scalar = hash_weights({{"s", Tensor::from<int64_t>({7}, {})}});
  const WeightsHash empty = hash_weights({{"s", Tensor::empty({0})}});
  EXPECT_NE(scalar.total, empty.total);
  EXPECT_NE(empty.total, hash_weights({}).total);
}

}  // namespace
}  // namespace lockstep::train
