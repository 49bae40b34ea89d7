#include "launcher/train_options.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>

#include "build_config.h"
#include "comm/algorithms/table.h"
#include "launcher/exit_status.h"
#include "runtime/error.h"
#include "train/assembly.h"
#include "train/config.h"
#include "train/config_set.h"
#include "train/run_directory.h"

namespace lockstep::launcher {
namespace {

constexpr const char* kDefaultRecipe = "fashion_mnist";

constexpr const char* kExamples = R"(
Examples:
  train                                        the fashion_mnist recipe, one rank
  mpirun -np 2 train fashion_mnist             the same on two ranks: the same bits
  mpirun -np 4 train my.textproto --set optimizer.lr=0.05 --output runs/try1
  mpirun -np 8 train --output runs/try1 --resume latest      goes on with the run, as it was configured
  mpirun -np 2 train fashion_mnist_resnet20 --profile trace.json --stop_at_step 13      where the time goes
  train fashion_mnist --print_config           every setting of a recipe, resolved

Signals: SIGUSR1 saves a checkpoint, SIGUSR2 saves and stops (so do SIGTERM and SIGINT). Open MPI's mpirun
passes the first two on; after SIGTERM or SIGINT it gives ranks two seconds to save, and its status is 1.
Exit status: 0 done, 64 command line or configuration, 65 data, 69 a rank was lost, 70 other errors,
75 stopped and saved (start again with --resume latest).)";

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
  return text;
}

/// The configuration that the run to be resumed was started with; "" where there is none.
std::string own_configuration(const TrainOptions& options) {
  const std::string file = train::RunDirectory{options.output}.config();
  return options.resume == "latest" && std::filesystem::exists(file) ? file : "";
}

TrainConfig load(const TrainOptions& options, const std::string& recipes_folder) {
  if (!options.recipe.empty()) return train::load_config(options.recipe, recipes_folder);
  const std::string own = own_configuration(options);
  if (own.empty()) return train::load_config(kDefaultRecipe, recipes_folder);
  TrainConfig config = train::load_config(own, recipes_folder);
  config.mutable_fault()->set_kind(TrainConfig::Fault::NONE);  // one made on purpose is for one start
  return config;
}

}  // namespace

ParsedCommandLine parse_train_options(int argc, const char* const* argv) {
  ParsedCommandLine parsed;
  TrainOptions& options = parsed.options;
  CLI::App app("train: data-parallel training, one process per rank; the same bits on any number of ranks",
               "train");
  app.footer(kExamples);
  app.set_version_flag("--version", kBuildDescription);
  app.add_option(
      "recipe", options.recipe,
      "name of a recipe (see --list) or a .textproto file; default fashion_mnist, with --resume latest "
      "the configuration in --output");
  app.add_option("--set", options.sets, "change a field of the configuration: optimizer.lr=0.1")
      ->type_name("FIELD=VALUE")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
  app.add_option("--output", options.output, "run directory; default a new one below runs/")
      ->type_name("DIR");
  app.add_option("--resume", options.resume,
                 "go on from a checkpoint: its directory, or 'latest' of --output")
      ->type_name("DIR|latest");
  app.add_option("--stop_at_step", options.stop_at_step, "save and stop after this step, with status 75")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--profile", options.profile.file,
                 "write a trace of some steps for ui.perfetto.dev, and print the costliest operations")
      ->type_name("FILE");
  app.add_option("--profile_steps", options.profile.steps, "how many steps; default 10")
      ->check(CLI::PositiveNumber);
  app.add_option("--profile_skip", options.profile.skip, "steps before them, while caches fill; default 3")
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--print_config", options.print_config, "print the resolved configuration and exit");
  app.add_flag("--list", options.list,
               "list what a configuration can name (recipes, models, data, losses, ...), and exit");
  try {
    app.parse(argc, argv);
    const bool needs_output = options.resume == "latest" && options.output.empty();
    if (needs_output) throw CLI::ValidationError("--resume latest", "needs --output, the run to go on with");
  } catch (const CLI::ParseError& error) {
    parsed.exit_status = app.exit(error) == 0 ? kDone : kUsageError;
  }
  return parsed;
}

TrainConfig resolve_config(const TrainOptions& options, const std::string& recipes_folder,
                           const train::Extensions& own) {
  TrainConfig config = load(options, recipes_folder);
  for (const std::string& assignment : options.sets) train::apply_set(config, assignment);
  train::validate(config, train::known_names(own));
  return config;
}

std::string list_names(const std::string& recipes_folder, const train::Extensions& own) {
  const train::KnownNames known = train::known_names(own);
  return to_text("recipes:    ", joined(train::recipe_names(recipes_folder)),
                 "\nmodels:     ", joined(known.models), "\ndata:       ", joined(known.data),
                 "\nlosses:     ", joined(known.losses), "\nmetrics:    ", joined(known.metrics),
                 "\noptimizers: ", joined(known.optimizers), "\nschedules:  ", joined(known.schedules),
                 "\nalgorithms: ", comm::algorithm_names(false), "\n");
}

std::string find_recipes_folder() {
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const std::filesystem::path installed = folder.parent_path() / "share" / "lockstep" / "recipes";
  return std::filesystem::is_directory(installed) ? installed.string() : kSourceRecipes;
}

}  // namespace lockstep::launcher
