#include "train/saved_model.h"

#include "parallel/consistency.h"
#include "runtime/log.h"
#include "train/assembly.h"
#include "train/config.h"
#include "train/config_fields.h"
#include "train/config_set.h"
#include "train/data_facts.h"
#include "train/initial_weights.h"
#include "train/precision.h"
#include "train/run_directory.h"
#include "train/safetensors.h"
#include "train/tensor_match.h"
#include "train/weights_hash.h"

namespace lockstep::train {
namespace {

/// Each rank has read configuration, data and weights by itself.
void compare_ranks(const SavedModel& saved, const data::DataSource& source,
                   comm::Communicator& communicator) {
  std::vector<parallel::Fact> facts = parallel::machine_facts();
  for (const parallel::Fact& fact : config_fields(saved.config)) facts.push_back(fact);
  for (const parallel::Fact& fact : data_facts(saved.config, source, data::Split::kTest))
    facts.push_back(fact);
  for (const auto& [name, hash] : hash_weights(models::state_tensors(*saved.model)).tensors)
    facts.emplace_back("weights of " + name, to_hex(hash));
  parallel::check_facts(communicator, facts, milliseconds(saved.config.comm().start_timeout_seconds()));
}

}  // namespace

TrainConfig saved_config(const SavedModelOptions& options) {
  TrainConfig config = load_config(RunDirectory{options.run}.config(), "");
  for (const std::string& assignment : options.sets) apply_set(config, assignment);
  validate(config, known_names(options.own));
  return config;
}

std::string saved_weights(const SavedModelOptions& options) {
  return weights_file(options.weights.empty() ? options.run : options.weights);
}

SavedModel load_saved_model(const SavedModelOptions& options, const data::SampleSpec& spec) {
  SavedModel saved{saved_config(options), spec, nullptr};
  const std::string note = settle_precision(saved.config, ops::bf16_features());
  if (!note.empty()) log::info(note);
  saved.model = make_model(saved.config, spec, options.own);
  const std::string file = saved_weights(options);
  load_by_name(file, load_safetensors(file), models::state_tensors(*saved.model));
  return saved;
}

Measured evaluate_saved_model(const SavedModelOptions& options, comm::Communicator& communicator) {
  const auto source = make_source(saved_config(options), data::Split::kTest, options.own);
  const SavedModel saved = load_saved_model(options, source->spec());
  compare_ranks(saved, *source, communicator);
  return evaluate(*saved.model, *source, make_objective(saved.config, options.own), communicator,
                  evaluation_options(saved.config, *source));
}

}  // namespace lockstep::train
