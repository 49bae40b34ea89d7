// The weights file of a run, with what a program needs to use them: which inputs the model takes, and what
// its outputs mean.
#pragma once

#include <string>

#include "data/source.h"
#include "models/module.h"

namespace lockstep::train {

/// Replaces the file `path` as replace_file() does. Beside the tensors its metadata hold "format" ("pt", for
/// PyTorch's tools), and of the spec "input" ("1 28 28"), "input_dtype", "classes" and "class_names" (a line
/// each; only where classes have names).
void save_model(const std::string& path, models::Module& model, const data::SampleSpec& spec);

/// The spec that a file of save_model() was written with, as far as a model needs it. Throws DataError naming
/// the file when it holds none, as files of other programs do not.
data::SampleSpec read_model_spec(const std::string& path);

}  // namespace lockstep::train
