#include "ops/conv2d/conv2d_forms.h"

#include <gtest/gtest.h>

namespace lockstep::ops {
namespace {

constexpr auto kDirect = dnnl::algorithm::convolution_direct;
constexpr auto kWinograd = dnnl::algorithm::convolution_winograd;

dnnl::algorithm forward(const Shape& weight, const Conv2dOptions& options = {}) {
  return fastest_form(ConvolutionPass::kForward, weight, options);
}

TEST(ConvolutionForms, ThreeByThreeOfManyChannelsIsWinogradsInEveryPass) {
  for (const auto pass :
       {ConvolutionPass::kForward, ConvolutionPass::kBackwardData, ConvolutionPass::kBackwardWeights}) {
    EXPECT_EQ(fastest_form(pass, {64, 64, 3, 3}, {.padding = 1}), kWinograd);
    EXPECT_EQ(fastest_form(pass, {32, 32, 3, 3}, {.padding = 1}), kWinograd);
    EXPECT_EQ(fastest_form(pass, {16, 16, 3, 3}, {.padding = 1}), kDirect);
    EXPECT_EQ(fastest_form(pass, {64, 3, 3, 3}, {.padding = 1}), kDirect) << "few on one side";
    EXPECT_EQ(fastest_form(pass, {16, 64, 3, 3}, {.padding = 1}), kDirect);
  }
}

TEST(ConvolutionForms, WinogradsFormIsForStrideOneAndPlainWindows) {
  EXPECT_EQ(forward({64, 64, 3, 3}, {.stride = 2}), kDirect);
  EXPECT_EQ(forward({64, 64, 3, 3}, {.dilation = 2}), kDirect);
  EXPECT_EQ(forward({64, 64, 3, 3}, {.groups = 2}), kDirect);
  EXPECT_EQ(forward({64, 64, 1, 1}), kDirect);
  EXPECT_EQ(forward({64, 64, 3, 1}), kDirect);
  EXPECT_EQ(forward({64, 64, 5, 5}), kDirect);
}

TEST(ConvolutionForms, FewChannelsGoForwardAsBackwardByData) {
  EXPECT_TRUE(forward_as_backward_data({16, 16, 3, 3}, {.padding = 1}));
  EXPECT_FALSE(forward_as_backward_data({16, 16, 3, 3}, {.padding = 0})) << "the other padding would be 2";
  EXPECT_FALSE(forward_as_backward_data({16, 16, 3, 3}, {.stride = 2, .padding = 1}));
  EXPECT_FALSE(forward_as_backward_data({32, 16, 3, 3}, {.padding = 1}));
}

TEST(ConvolutionForms, ChannelsLastIsForGradientsOfSmallWeights) {
  constexpr auto kWeights = ConvolutionPass::kBackwardWeights;
  EXPECT_TRUE(channels_last_is_faster(kWeights, DType::kF32, {16, 16, 3, 3}, {.padding = 1}));
  EXPECT_FALSE(channels_last_is_faster(kWeights, DType::kBF16, {16, 16, 3, 3}, {.padding = 1}));
  EXPECT_FALSE(channels_last_is_faster(kWeights, DType::kF32, {32, 16, 3, 3}, {.padding = 1}))
      << "blocks of 16 of 32 channels are not channels last";
  EXPECT_FALSE(
      channels_last_is_faster(ConvolutionPass::kForward, DType::kF32, {16, 16, 3, 3}, {.padding = 1}));
}

}  // namespace
}  // namespace lockstep::ops
