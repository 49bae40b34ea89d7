#include "launcher/lockstep_program.h"

#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>

#include "build_config.h"
#include "launcher/eval_command.h"
#include "launcher/exit_status.h"
#include "launcher/predict_command.h"
#include "launcher/verify_data_command.h"
#include "train/compare.h"

namespace lockstep::launcher {
namespace {

constexpr const char* kExamples = R"(
Examples:
  lockstep compare runs/np1 runs/np4             the first step and tensor at which two runs differ
  lockstep eval runs/first                       loss and accuracy of its model, on its evaluation data
  lockstep eval runs/first --weights runs/first/best.safetensors
  lockstep predict runs/first cat.jpg dog.png    the most probable classes of pictures, as JSON
  lockstep verify-data my.textproto --threads 4  every fault of the data, without training

Exit status: 0 done, 1 runs differ, 64 command line or configuration, 65 data, 69 a rank was lost, 70 other
errors.)";

/// What the command line asks for; `run` is set by the subcommand that was given.
struct CommandLine {
  std::string first;
  std::string second;
  train::SavedModelOptions saved;
  std::vector<std::string> files;
  int64_t top = 5;
  VerifyDataOptions verify;
};

int compare(const CommandLine& given) {
  const train::RunComparison comparison = train::compare_runs(given.first, given.second);
  std::cout << comparison.text << '\n';
  return comparison.equal ? kDone : kRunsDiffer;
}

void add_sets(CLI::App& command, std::vector<std::string>& sets) {
  command.add_option("--set", sets, "change a field of the configuration: data.path=/elsewhere")
      ->type_name("FIELD=VALUE")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
}

void add_saved_model(CLI::App& command, train::SavedModelOptions& saved) {
  command.add_option("run", saved.run, "a run directory")->required();
  command.add_option("--weights", saved.weights,
                     "a .safetensors file with the model's weights; default the run's model.safetensors");
  add_sets(command, saved.sets);
}

}  // namespace

int run_lockstep(int argc, char** argv, const train::Extensions& own) {
  CLI::App app("lockstep: tools around training runs", "lockstep");
  app.footer(kExamples);
  app.set_version_flag("--version", kBuildDescription);
  app.require_subcommand(1);
  CommandLine given;
  given.saved.own = own;
  int status = kDone;

  CLI::App* command =
      app.add_subcommand("compare", "compare the metrics of two runs; status 1 if they differ");
  command->add_option("first", given.first, "a run directory")->required();
  command->add_option("second", given.second, "another one")->required();
  command->final_callback([&] { status = compare(given); });

  command = app.add_subcommand("eval", "evaluate a run's weights; also under mpirun");
  add_saved_model(*command, given.saved);
  command->final_callback([&] { status = eval_command(given.saved); });

  command = app.add_subcommand("predict", "classify pictures (JPEG, PNG); a line of JSON for each");
  add_saved_model(*command, given.saved);
  command->add_option("files", given.files, "pictures")->required();
  command->add_option("--top", given.top, "how many classes to name")->check(CLI::PositiveNumber);
  command->final_callback([&] { status = predict_command(given.saved, given.files, given.top); });

  command =
      app.add_subcommand("verify-data", "read all data of a recipe and list every fault; status 65 if any");
  command->add_option("recipe", given.verify.recipe, "name of a recipe or a .textproto file")->required();
  command->add_option("--threads", given.verify.threads, "that read at once")->check(CLI::Range(1, 256));
  add_sets(*command, given.verify.sets);
  command->final_callback([&] { status = verify_data_command(given.verify, own); });

  try {
    app.parse(argc, argv);
    return status;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kUsageError;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return status_of(error);
  }
}

}  // namespace lockstep::launcher
