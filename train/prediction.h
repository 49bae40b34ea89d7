// What a trained classifier says about pictures.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/saved_model.h"

namespace lockstep::train {

struct ClassProbability {
  int64_t label = 0;
  std::string name;  ///< "" where classes have no names
  double probability = 0;
};

struct Prediction {
  std::string file;
  std::vector<ClassProbability> top;  ///< the most probable ones, in that order
  std::string error;                  ///< why there is none; otherwise ""
};

/// What the model takes and means: its file says it; where that came from another program, the run's data
/// does.
data::SampleSpec prediction_spec(const SavedModelOptions& options);

/// Decodes the files (JPEG or PNG), prepares them as evaluation does, and gives the `top` most probable
/// classes of each, in the order of the files. Throws ConfigError when the model does not take square
/// pictures or does not give a number for each class.
std::vector<Prediction> predict(const SavedModel& saved, const std::vector<std::string>& files, int64_t top);

}  // namespace lockstep::train
