// AlexNet in the form of torchvision.models.alexnet, with its names, order and initialisation (the default of
// its layers): Krizhevsky, "One weird trick for parallelizing convolutional neural networks", 2014. Five
// convolutions ("features.0.weight", ...), average pooling to 6 x 6, three linear layers
// ("classifier.1.weight",
// ...); 61,100,840 parameters for 3 channels and 1,000 classes.
//
// With batch_norm it is AlexNet-BN of You, Gitman and Ginsburg, "Large batch training of convolutional
// networks", 2017: a batch norm after each convolution, which then has no bias. Modules are numbered as in
// torchvision's networks of this kind (vgg16_bn): convolution, batch norm, ReLU, pooling; 61,101,992
// parameters.
#pragma once

#include <memory>

#include "models/model_options.h"
#include "models/module.h"

namespace lockstep::models {

/// Reads input, classes, batch_norm and dropout (default 0.5), which comes before the first two linear
/// layers. Throws ConfigError when an image is smaller than 63 x 63, and where another option is set.
std::unique_ptr<Module> make_alexnet(const ModelOptions& options);

}  // namespace lockstep::models
