// `lockstep predict`: what a trained model says about pictures.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/saved_model.h"

namespace lockstep::launcher {

/// Prints a line of JSON per file: {"file", "top": [{"class", "name", "probability"}, ...]}, or {"file",
/// "error"}. Returns the exit status: that of data errors when a file cannot be read.
int predict_command(const train::SavedModelOptions& options, const std::vector<std::string>& files,
                    int64_t top);

}  // namespace lockstep::launcher
