#include "train/precision.h"

#include <gtest/gtest.h>

namespace lockstep::train {
namespace {

const ops::Bf16Features kFast{.avx512 = true, .avx512_bf16 = true, .amd = true};
const ops::Bf16Features kSlow{.avx512 = true, .processor = "GenuineIntel with avx512_core"};

TrainConfig config_of(TrainConfig::Precision precision) {
  TrainConfig config;
  config.set_precision(precision);
  return config;
}

TEST(Precision, IsTheElementTypeOfActivations) {
  EXPECT_EQ(compute_type(TrainConfig()), DType::kF32);
  EXPECT_EQ(compute_type(config_of(TrainConfig::BF16)), DType::kBF16);
}

TEST(Precision, Bf16StaysWhereItIsFast) {
  TrainConfig config = config_of(TrainConfig::BF16);
  EXPECT_EQ(settle_precision(config, kFast), "");
  EXPECT_EQ(config.precision(), TrainConfig::BF16);
}

TEST(Precision, Bf16BecomesFp32ElsewhereAndTheLineSaysWhy) {
  TrainConfig config = config_of(TrainConfig::BF16);
  const std::string line = settle_precision(config, kSlow);
  EXPECT_EQ(config.precision(), TrainConfig::FP32);
  EXPECT_TRUE(line.starts_with("precision: BF16 needs ")) << line;
  EXPECT_NE(line.find("GenuineIntel with avx512_core"), std::string::npos) << line;
  EXPECT_TRUE(line.ends_with("; computing in FP32")) << line;
}

TEST(Precision, Fp32IsNobodysNews) {
  TrainConfig config;
  EXPECT_EQ(settle_precision(config, kSlow), "");
  EXPECT_EQ(config.precision(), TrainConfig::FP32);
}

}  // namespace
}  // namespace lockstep::train
