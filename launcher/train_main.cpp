// `train`: one rank of a training run.

#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <thread>

#include "build_config.h"
#include "launcher/environment.h"
#include "launcher/exit_status.h"
#include "launcher/signals.h"
#include "launcher/train_options.h"
#include "launcher/world.h"
#include "ops/library_version.h"
#include "parallel/rank_zero.h"
#include "runtime/error.h"
#include "runtime/log.h"
#include "runtime/threads.h"
#include "train/config.h"
#include "train/config_check.h"
#include "train/open_run.h"
#include "train/trainer.h"

namespace lockstep::launcher {
namespace {

/// Which rank speaks first when all ranks meet the same mistake: rank 0 at once, the others only if it did
/// not end the run.
constexpr std::chrono::milliseconds kLetRankZeroSpeak{1000};

void report(const std::exception& error, const Identity& identity) {
  const ExitStatus status = status_of(error);
  if (identity.rank != 0 && (status == kUsageError || status == kDataFault))
    std::this_thread::sleep_for(kLetRankZeroSpeak);
  if (identity.size > 1) log::set_thread_prefix(to_text("rank ", identity.rank, ": "));
  log::error(error.what());
}

/// Ranks, threads and the rules that the numbers follow, once per run.
void announce(const TrainConfig& config, const Identity& identity, int threads) {
  log::info(kBuildDescription, "; ", identity.size, identity.size == 1 ? " rank" : " ranks", " x ", threads,
            threads == 1 ? " thread" : " threads", ", ",
            config.numerics() == TrainConfig::REPRODUCIBLE
                ? "the same bits on any number of ranks (with as many threads each)"
                : "bits depend on the number of ranks (numerics: FAST)");
  if (config.threads() == 0)
    log::info("threads: chosen for this machine; bits are comparable at the same number only");
  if (!identity.hint.empty()) log::warning(identity.hint);
}

int train_one_rank(const TrainOptions& options, const TrainConfig& config, const Identity& identity) {
  const int threads = resolve_threads(config.threads(), openmp_threads(environment_variable), allowed_cores(),
                                      identity.local_size);
  configure_compute_threads(threads);
  train::Requests requests;
  const SignalThread signals(requests, identity.launcher == "Open MPI");
  World world(identity, config, {.threads = threads, .ending = &requests.ending});
  // After an error it is not destroyed: that could wait for a hanging file system, and the other ranks wait
  // for us.
  std::unique_ptr<train::Trainer> trainer;
  try {
    comm::Communicator& communicator = world.communicator();
    train::TrainerOptions settings;
    settings.output = options.output;
    if (options.output.empty()) {
      const std::string recipe = options.recipe.empty() ? "fashion_mnist" : options.recipe;
      settings.output = parallel::broadcast_text(communicator, train::new_run_name(recipe));
    }
    settings.resume = options.resume;
    settings.stop_at_step = options.stop_at_step;
    settings.threads = threads;
    settings.facts = {{"kernels", ops::library_version()}};
    if (identity.rank == 0) announce(config, identity, threads);
    trainer = std::make_unique<train::Trainer>(config, communicator, requests, settings);
    const train::Outcome outcome = trainer->run();
    trainer.reset();
    world.leave();
    return outcome == train::Outcome::kFinished ? kDone : kStoppedAndSaved;
  } catch (const std::exception& error) {
    report(error, identity);
    world.abort(status_of(error));
  }
}

int run(int argc, char** argv) {
  const ParsedCommandLine command_line = parse_train_options(argc, argv);
  if (command_line.exit_status) return *command_line.exit_status;
  const TrainOptions& options = command_line.options;
  const std::string recipes = find_recipes_folder();
  if (options.list) {
    std::cout << list_names(recipes);
    return kDone;
  }
  block_signals();
  Identity identity;
  try {
    identity = identify(environment_variable);
    log::configure(log::Level::kInfo, identity.rank > 0 ? to_text("rank ", identity.rank, ": ")
                                                        : "");  // rank 0 tells of the run
    const TrainConfig config = resolve_config(options, recipes);
    if (options.print_config) {
      std::cout << train::config_text(config);
      return kDone;
    }
    train::validate_for(config, identity.size);
    return train_one_rank(options, config, identity);
  } catch (const std::exception& error) {
    report(error, identity);
    return status_of(error);
  }
}

}  // namespace
}  // namespace lockstep::launcher

int main(int argc, char** argv) {
  return lockstep::launcher::run(argc, argv);
}
