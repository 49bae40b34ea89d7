#include "ops/conv2d/conv2d_forms.h"

#include <algorithm>
#include <array>

namespace lockstep::ops {
namespace {

/// Where Winograd's form F(4x4, 3x3) (Lavin and Gray 2016), which needs a quarter of the multiplications, is
/// the faster one: 3x3 convolutions of stride 1 with so many channels on each side. Its speed relative to the
/// direct form's, from `build/release/bin/convolution` on an AMD Zen 4: with 64 to 512 channels 1.9 to 2.6
/// forward and backward by data, 1.7 to 2.3 backward by weights; with 32 channels 1.4 and 1.2; with 16
/// channels 0.7 to 1.0; with 1 or 3 input channels 0.1 to 0.4. The library's own choice
/// (convolution_auto) misses most of them: of ResNet-50's it takes Winograd's form for one layer in four.
struct WinogradRow {
  ConvolutionPass pass;
  int64_t channels;  ///< at least so many on the side that has fewer
};
constexpr std::array kWinograd{
    WinogradRow{ConvolutionPass::kForward, 32},
    WinogradRow{ConvolutionPass::kBackwardData, 32},
    WinogradRow{ConvolutionPass::kBackwardWeights, 32},
};

bool is_three_by_three(const Shape& weight, const Conv2dOptions& options) {
  return weight[2] == 3 && weight[3] == 3 && options.stride == 1 && options.dilation == 1 &&
         options.groups == 1;
}

}  // namespace

dnnl::algorithm fastest_form(ConvolutionPass pass, const Shape& weight, const Conv2dOptions& options) {
  const auto* row = std::ranges::find(kWinograd, pass, &WinogradRow::pass);
  return is_three_by_three(weight, options) && std::min(weight[0], weight[1]) >= row->channels
             ? dnnl::algorithm::convolution_winograd
             : dnnl::algorithm::convolution_direct;
}

// 16 -> 16 channels on 32 x 32: 110 GFLOP/s backward by data, 83 forward (the same benchmark).
bool forward_as_backward_data(const Shape& weight, const Conv2dOptions& options) {
  return is_three_by_three(weight, options) && options.padding == 1 && weight[0] == 16 && weight[1] == 16;
}

// The same convolution backward by weights: 115 GFLOP/s with channels last, 97 in blocks.
bool channels_last_is_faster(ConvolutionPass pass, DType dtype, const Shape& weight,
                             const Conv2dOptions& options) {
  return pass == ConvolutionPass::kBackwardWeights && dtype == DType::kF32 &&
         is_three_by_three(weight, options) && weight[0] == 16 && weight[1] == 16;
}

}  // namespace lockstep::ops
