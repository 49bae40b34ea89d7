// Starting from the weights of another model.
#pragma once

#include <string>
#include <vector>

#include "proto/train_config.pb.h"
#include "runtime/parameter.h"

namespace lockstep::train {

/// The file that a path means: itself, or the model.safetensors of a run directory.
std::string weights_file(const std::string& path);

/// Copies the file's tensors into the model's of the same names, in place, and returns a line for people: how
/// many of how many, and which stay as they were. Throws DataError listing names when they do not agree (see
/// load_by_name()), ConfigError for a pattern of `skip` that matches no tensor of the model.
std::string load_initial_weights(const TrainConfig::InitFrom& init_from,
                                 const std::vector<NamedTensor>& model);

/// Takes the parameters that match one of the patterns out of the graph, and returns the others. Throws
/// ConfigError for a pattern that matches none, or when nothing is left to train.
std::vector<Parameter*> freeze(const std::vector<Parameter*>& parameters,
                               const google::protobuf::RepeatedPtrField<std::string>& patterns);

}  // namespace lockstep::train
