#include "launcher/train_program.h"

#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <thread>

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
#include "train/tuning.h"

namespace lockstep::launcher {
namespace {

/// How long other ranks leave it to rank 0 to end the run with its message.
constexpr std::chrono::milliseconds kLetRankZeroSpeak{2000};

/// Whether the launcher has begun to end this rank by then, because another one has failed.
bool another_ends_the_run(const train::Requests& requests) {
  const auto end = std::chrono::steady_clock::now() + kLetRankZeroSpeak;
  while (!requests.ending && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return requests.ending;
}

/// Most mistakes are met by all ranks alike, and rank 0's message is enough: such a rank only ends. What each
/// rank waited for when it lost another is news.
void report(const std::exception& error, const Identity& identity, const train::Requests& requests) {
  const ExitStatus status = status_of(error);
  if (identity.rank > 0 && status != kCommunicationLost && another_ends_the_run(requests)) std::_Exit(status);
  if (identity.size > 1) log::set_thread_prefix(to_text("rank ", identity.rank, ": "));
  log::error(error.what());
}

int train_one_rank(const TrainOptions& options, const TrainConfig& config, const Identity& identity,
                   train::Requests& requests, const train::Extensions& own) {
  const int threads = resolve_threads(config.threads(), openmp_threads(environment_variable), allowed_cores(),
                                      identity.local_size);
  if (threads > allowed_cores() && identity.rank == 0) {
    log::warning("threads: ", threads, " per rank, but this one may use ", allowed_cores(),
                 " cores; see mpirun's --bind-to and --map-by");
  }
  configure_compute_threads(threads);
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
    settings.profile = options.profile;
    settings.facts = {{"kernels", ops::library_version()}};
    settings.own = own;
    trainer = std::make_unique<train::Trainer>(config, communicator, requests, settings);
    const train::Outcome outcome = trainer->run();
    trainer.reset();
    world.leave();
    return outcome == train::Outcome::kFinished ? kDone : kStoppedAndSaved;
  } catch (const std::exception& error) {
    report(error, identity, requests);
    requests.stop = true;  // the signals that follow are no news
    world.abort(status_of(error));
  }
}

}  // namespace

int run_train(int argc, char** argv, const train::Extensions& own) {
  const ParsedCommandLine command_line = parse_train_options(argc, argv);
  if (command_line.exit_status) return *command_line.exit_status;
  const TrainOptions& options = command_line.options;
  const std::string recipes = find_recipes_folder();
  if (options.list) {
    std::cout << list_names(recipes, own);
    return kDone;
  }
  block_signals();
  Identity identity;
  train::Requests requests;
  std::optional<SignalThread> signals;
  try {
    identity = identify(environment_variable);
    if (identity.rank > 0)  // rank 0 tells of the run
      log::configure(log::Level::kWarning, to_text("rank ", identity.rank, ": "));
    signals.emplace(requests, identity.launcher == "Open MPI");
    TrainConfig config = resolve_config(options, recipes, own);
    const std::string tuned = train::resolve_tuning(config, {identity.size, identity.local_size});
    if (options.print_config) {
      if (identity.rank == 0) std::cout << train::config_text(config);
      return kDone;
    }
    if (!identity.hint.empty()) log::warning(identity.hint);
    if (!tuned.empty()) log::info(tuned);
    train::validate_for(config, identity.size);
    return train_one_rank(options, config, identity, requests, own);
  } catch (const std::exception& error) {
    report(error, identity, requests);
    return status_of(error);
  }
}

}  // namespace lockstep::launcher
