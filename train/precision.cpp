#include "train/precision.h"

#include "runtime/error.h"

namespace lockstep::train {

DType compute_type(const TrainConfig& config) {
  return config.precision() == TrainConfig::BF16 ? DType::kBF16 : DType::kF32;
}

std::string settle_precision(TrainConfig& config, const ops::Bf16Features& features) {
  const std::string obstacle = ops::bf16_obstacle(features);
  if (config.precision() != TrainConfig::BF16 || obstacle.empty()) return "";
  config.set_precision(TrainConfig::FP32);
  return to_text("precision: ", obstacle, "; computing in FP32");
}

}  // namespace lockstep::train
