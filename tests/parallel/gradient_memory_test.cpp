#include "parallel/gradient_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "comm/codecs/table.h"
#include "comm/host/host_communicator.h"
#include "comm/local/local_group.h"
#include "runtime/autograd.h"

namespace lockstep::parallel {
namespace {

class GradientMemoryTest : public ::testing::Test {
 protected:
  GradientMemoryTest()
      : weight_{"weight", Tensor::from<float>({1, 2, 3, 4, 5, 6}, {2, 3}), {}},
        bias_{"bias", Tensor::from<float>({7, 8}, {2}), {}},
        plan_(plan_buckets({6, 2}, {})),
        communicator_(comm::LocalGroup(1).transport(0), {}),
        memory_({&weight_, &bias_}, plan_, communicator_) {}

  void add_to(Parameter& parameter, float value) {
    parameter.value.leaf_gradient().add(Tensor::full(parameter.value.shape(), value),
                                        parameter.value.shape());
  }

  Parameter weight_;
  Parameter bias_;
  BucketPlan plan_;
  comm::HostCommunicator communicator_;
  GradientMemory memory_;
};

TEST_F(GradientMemoryTest, ParametersKeepTheirValuesInFlatMemory) {
  EXPECT_EQ(weight_.value.to_vector<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(weight_.value.storage(), memory_.values().storage());
  EXPECT_EQ(bias_.value.storage(), memory_.values().storage());
  EXPECT_TRUE(weight_.value.requires_grad());
  EXPECT_EQ(memory_.values().to_vector<float>()[0], 7) << "the last parameter comes first";
}

TEST_F(GradientMemoryTest, GradientsAreViewsOfTheBoundBuffer) {
  memory_.bind(1);
  add_to(weight_, 3);
  EXPECT_EQ(memory_.data(1, plan_.buckets[0])[plan_.offsets[0]], 3);
  memory_.bind(kBucketBuffer);
  EXPECT_FALSE(weight_.value.leaf_gradient().written());
  add_to(weight_, 4);
  EXPECT_EQ(memory_.gradient(0).to_vector<float>(), std::vector<float>(6, 4));
  EXPECT_EQ(memory_.data(1, plan_.buckets[0])[plan_.offsets[0]], 3) << "the other buffer stays";
}

TEST_F(GradientMemoryTest, AParameterWithoutGradientContributesTheNeutralElement) {
  memory_.bind(kBucketBuffer);
  memory_.gradient(1).fill(99);  // left over from an earlier step
  add_to(weight_, 1);
  memory_.complete(plan_.buckets[0], kBucketBuffer);
  for (const float value : memory_.gradient(1).to_vector<float>()) {
    EXPECT_EQ(std::bit_cast<uint32_t>(value), 0x80000000U);
  }
  EXPECT_EQ(memory_.gradient(0).to_vector<float>()[0], 1);
}

TEST_F(GradientMemoryTest, AddsInTheOrderOfTheTree) {
  // 1e8 + (1 + (-1e8 + 1)): the inner sum loses its 1, so the outer order shows.
  const float values[] = {1, -1e8F, 1, 1e8F};
  for (int buffer = 0; buffer < 4; ++buffer) {
    memory_.bind(buffer);
    add_to(weight_, values[buffer]);
    memory_.complete(plan_.buckets[0], buffer);
  }
  memory_.add({.slot = 3, .buffer = 0, .addends = {1, 2, 3}, .target = 3}, plan_.buckets[0]);
  const float expected = 1e8F + (1.0F + (-1e8F + 1.0F));
  EXPECT_EQ(memory_.data(3, plan_.buckets[0])[plan_.offsets[0]], expected);
  EXPECT_EQ(memory_.gradient(0).to_vector<float>()[0], 1) << "only the target changes";
}

TEST_F(GradientMemoryTest, WithACodecEverySumIsRoundedOnTheGridOfTheRange) {
  const comm::CodecRow& codec = *comm::find_codec(comm::Codec::kFp16);
  constexpr int64_t kCount = 5 * 1024 + 48;
  const auto value = [](int buffer, int64_t i) {
    return static_cast<float>((i * 37 + buffer) % 1001) * 1.000123F * (i / 1024 % 2 == 0 ? 1 : 0x1p-50F);
  };
  for (const int addends : {0, 1, 3}) {
    // Behind another bucket, whose end is not on a grid of blocks.
    Parameter parameter{"weight", Tensor::zeros({kCount}), {}};
    Parameter behind{"bias", Tensor::zeros({16}), {}};
    const BucketPlan plan =
        plan_buckets({kCount, 16}, {.bucket_bytes = kCount * 4, .first_bucket_bytes = 64});
    ASSERT_EQ(plan.buckets[1].offset, 16);
    GradientMemory memory({&parameter, &behind}, plan, communicator_);
    SlotStep step{.slot = 0, .buffer = 0, .addends = {}, .target = addends};
    std::vector<float> expected;
    for (int buffer = 0; buffer <= addends; ++buffer) {
      if (buffer > 0) step.addends.push_back(buffer);
      std::vector<float> values;
      for (int64_t i = 0; i < kCount; ++i) values.push_back(value(buffer, i));
      float* const memory_of_buffer = memory.data(buffer, plan.buckets[1]);
      if (buffer == 0) {
        std::copy(values.begin(), values.end(), memory_of_buffer);  // the slot's sum, not rounded yet
        codec.round(values.data(), kCount);
        expected = values;
        continue;
      }
      codec.round(values.data(), kCount);
      std::copy(values.begin(), values.end(), memory_of_buffer);
      for (size_t i = 0; i < kCount; ++i) expected[i] = values[i] + expected[i];
      codec.round(expected.data(), kCount);
    }
    memory.add(step, plan.buckets[1], comm::Codec::kFp16);
    const float* const sum = memory.data(addends, plan.buckets[1]);
    EXPECT_EQ(std::vector<float>(sum, sum + kCount), expected) << addends << " addends";
  }
}

TEST_F(GradientMemoryTest, AddsChainsOfAnyLengthElementByElement) {
  for (const int64_t count : {1, 15, 2048, 2049, 70001}) {
    for (int addends = 1; addends <= 9; ++addends) {
      Parameter parameter{"weight", Tensor::zeros({count}), {}};
      const BucketPlan plan = plan_buckets({count}, {});
      GradientMemory memory({&parameter}, plan, communicator_);
      SlotStep step{.slot = 0, .buffer = 0, .addends = {}, .target = addends};
      std::vector<float> expected(static_cast<size_t>(count));
      for (int buffer = 0; buffer <= addends; ++buffer) {
        if (buffer > 0) step.addends.push_back(buffer);
        float* const values = memory.data(buffer, plan.buckets[0]) + plan.offsets[0];
        for (int64_t i = 0; i < count; ++i) {
          values[i] = 1.0F / static_cast<float>(buffer * count + i + 1);
          expected[static_cast<size_t>(i)] = values[i] + expected[static_cast<size_t>(i)];
        }
      }
      memory.add(step, plan.buckets[0]);
      const float* const sum = memory.data(addends, plan.buckets[0]) + plan.offsets[0];
      EXPECT_EQ(std::vector<float>(sum, sum + count), expected)
          << count << " elements, " << addends << " addends";
    }
  }
}

}  // namespace
}  // namespace lockstep::parallel
