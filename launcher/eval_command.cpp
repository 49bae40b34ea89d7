#include "launcher/eval_command.h"

#include <iostream>
#include <nlohmann/json.hpp>

#include "launcher/environment.h"
#include "launcher/exit_status.h"
#include "launcher/world.h"
#include "runtime/log.h"
#include "runtime/threads.h"
#include "train/assembly.h"
#include "train/evaluation.h"
#include "train/json_number.h"

namespace lockstep::launcher {
namespace {

std::string json_line(const train::Measured& measured) {
  nlohmann::ordered_json line{{"eval_loss", train::json_number(measured.loss)}};
  for (const auto& [name, value] : measured.metrics) line["eval_" + name] = train::json_number(value);
  line["eval_count"] = static_cast<int64_t>(measured.weight);
  if (measured.bad_samples > 0) line["eval_bad_samples"] = measured.bad_samples;
  return line.dump();
}

}  // namespace

int eval_command(const train::SavedModelOptions& options) {
  const Identity identity = identify(environment_variable);
  if (identity.rank > 0) log::configure(log::Level::kWarning, to_text("rank ", identity.rank, ": "));
  const TrainConfig config = train::saved_config(options);
  train::validate_for(config, identity.size);
  const int threads = resolve_threads(config.threads(), openmp_threads(environment_variable), allowed_cores(),
                                      identity.local_size);
  configure_compute_threads(threads);
  World world(identity, config, {.threads = threads});
  try {
    const train::Measured measured = train::evaluate_saved_model(options, world.communicator());
    if (identity.rank == 0) std::cout << json_line(measured) << '\n';
    world.leave();
    return kDone;
  } catch (const std::exception& error) {
    if (identity.size > 1) log::set_thread_prefix(to_text("rank ", identity.rank, ": "));
    log::error(error.what());
    world.abort(status_of(error));
  }
}

}  // namespace lockstep::launcher
