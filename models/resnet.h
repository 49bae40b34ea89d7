// Residual networks: He et al., "Deep residual learning for image recognition", CVPR 2016, with the names,
// the order and the initialisation of torchvision.models.resnet: "layer1.0.conv1.weight", convolutions
// without bias drawn from a normal distribution of variance 2 / fan out, batch norms with scale 1 and shift
// 0, linear layers as in layers.h.
//
// For large images (table 1 of the paper): 7x7 convolution with stride 2, 3x3 max pooling with stride 2, four
// stages with 64, 128, 256, 512 channels. resnet50 and resnet101 are of version 1.5: a bottleneck's stride is
// at its 3x3 convolution, not at the 1x1 before it. For CIFAR and other small images (section 4.2): 3x3
// convolution, no pooling, three stages with 16, 32, 64 channels. The first block of a stage halves height
// and width; where that or the number of channels changes a shape, the shortcut is a 1x1 convolution with
// batch norm ("downsample", the paper's option B), also in the small ones, for which the paper pads with
// zeros (option A): 2,752 parameters more.
//
//              blocks per stage   parameters for 3 channels, 1,000 or (CIFAR) 10 classes
//   resnet18   2 2 2 2             11,689,512
//   resnet34   3 4 6 3             21,797,672
//   resnet50   3 4 6 3             25,557,032
//   resnet101  3 4 23 3            44,549,160
//   resnet20   3 3 3                  272,474
//   resnet56   9 9 9                  855,770
#pragma once

#include <memory>

#include "models/model_options.h"
#include "models/module.h"

namespace lockstep::models {

// All read input, classes and zero_gamma. They consist of batch norm, and throw ConfigError where batch_norm
// is false or another option is set.
std::unique_ptr<Module> make_resnet18(const ModelOptions& options);
std::unique_ptr<Module> make_resnet34(const ModelOptions& options);
std::unique_ptr<Module> make_resnet50(const ModelOptions& options);
std::unique_ptr<Module> make_resnet101(const ModelOptions& options);
std::unique_ptr<Module> make_resnet20(const ModelOptions& options);
std::unique_ptr<Module> make_resnet56(const ModelOptions& options);

}  // namespace lockstep::models
