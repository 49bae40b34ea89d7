// A run directory with a trained model, made once for all tests of this binary.
#pragma once

#include <string>

namespace lockstep::launcher {

/// Of a small convolutional network on made-up 8 x 8 grey images of three classes.
const std::string& small_run();

}  // namespace lockstep::launcher
