// A small convolutional network:
//
//   conv1 3x3, [bn1], ReLU, max pool 2   ->   conv2 3x3, [bn2], ReLU, max pool 2, [dropout]   ->   fc1, ReLU,
//   [dropout]   ->   fc2
//
// 421,642 parameters for 28 x 28 grey images, ten classes and no batch norm. With batch norm conv1 and conv2
// have no bias.
#pragma once

#include <memory>

#include "models/model_options.h"
#include "models/module.h"

namespace lockstep::models {

/// Reads input, classes, dropout, batch_norm and hidden: [channels of conv1, channels of conv2, width of
/// fc1], default 32, 64, 128. Throws ConfigError when there are not three, when an image is smaller than 4 x
/// 4, and when another option is set.
std::unique_ptr<Module> make_cnn(const ModelOptions& options);

}  // namespace lockstep::models
