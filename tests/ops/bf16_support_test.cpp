#include "ops/bf16_support.h"

#include <gtest/gtest.h>

namespace lockstep::ops {
namespace {

TEST(Bf16Support, PaysWithAmxAndOnAmdWithAvx512Bf16) {
  EXPECT_EQ(bf16_obstacle({.avx512 = true, .avx512_bf16 = true, .amx_bf16 = true}), "") << "Sapphire Rapids";
  EXPECT_EQ(bf16_obstacle({.avx512 = true, .avx512_bf16 = true, .amd = true}), "") << "Zen 4";
}

TEST(Bf16Support, DoesNotPayElsewhereAndSaysWhy) {
  const Bf16Features cooper_lake{
      .avx512 = true, .avx512_bf16 = true, .processor = "GenuineIntel with avx512_core_bf16"};
  const Bf16Features skylake{.avx512 = true};
  const Bf16Features zen_3{.amd = true};
  EXPECT_EQ(bf16_obstacle(cooper_lake),
            "BF16 needs AMX, or AVX512_BF16 of an AMD processor, to be faster than FP32; this processor "
            "(GenuineIntel with avx512_core_bf16) has neither");
  EXPECT_NE(bf16_obstacle(skylake), "");
  EXPECT_NE(bf16_obstacle(zen_3), "");
}

TEST(Bf16Support, KernelsExistFromAvx512On) {
  EXPECT_TRUE(has_bf16_kernels({.avx512 = true}));
  EXPECT_FALSE(has_bf16_kernels({.amd = true}));
}

TEST(Bf16Support, FeaturesOfThisProcessorIncludeEachOther) {
  const Bf16Features features = bf16_features();
  EXPECT_NE(features.processor.find(" with "), std::string::npos) << features.processor;
  EXPECT_GE(features.avx512_bf16, features.amx_bf16);
  EXPECT_GE(features.avx512, features.avx512_bf16);
}

}  // namespace
}  // namespace lockstep::ops
