// A trained model, taken out of its run directory for use.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "data/source.h"
#include "models/module.h"
#include "proto/train_config.pb.h"
#include "train/evaluation.h"
#include "train/extensions.h"

namespace lockstep::train {

struct SavedModelOptions {
  std::string run;                     ///< run directory; its config.textproto says what model and data are
  std::string weights = {};            ///< a .safetensors file; empty: the run's model.safetensors
  std::vector<std::string> sets = {};  ///< changes of the configuration, "data.path=/elsewhere"
  Extensions own = {};
};

struct SavedModel {
  TrainConfig config;
  data::SampleSpec spec;  ///< what it takes, and what its outputs mean
  std::unique_ptr<models::Module> model;
};

/// The run's configuration with the changes, checked. Throws ConfigError.
TrainConfig saved_config(const SavedModelOptions& options);

/// The file that holds the weights.
std::string saved_weights(const SavedModelOptions& options);

/// The model with its weights, which must match it one to one (DataError otherwise). It is computed in the
/// precision of the run, or in FP32 where that is faster; the log says so.
SavedModel load_saved_model(const SavedModelOptions& options, const data::SampleSpec& spec);

/// Collective. Evaluates the weights on the run's evaluation data as training does. Throws ConfigError when
/// ranks differ in configuration, data or weights.
Measured evaluate_saved_model(const SavedModelOptions& options, comm::Communicator& communicator);

}  // namespace lockstep::train
