#include "launcher/lockstep_program.h"

#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>
#include <map>

#include "build_config.h"
#include "launcher/bench_allreduce_command.h"
#include "launcher/bench_scaling_command.h"
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
  lockstep bench scaling --ranks 1,2,4           samples per second over ranks, of the fashion_mnist recipe
  mpirun -np 2 lockstep bench allreduce          how fast gradients could be summed, by size and algorithm

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
  BenchScalingOptions scaling;
  BenchAllreduceOptions allreduce;
};

constexpr const char* kScalingExamples = R"(
Weak scaling: global_batch is one rank's, so the work of each rank stays. Strong scaling: it is all ranks'.
All runs are of the same recipe, set to end after a few steps and not to evaluate or save between them.

Examples:
  lockstep bench scaling                         the fashion_mnist recipe on 1, 2 and 4 ranks
  lockstep bench scaling my.textproto --ranks 1,2,4,8 --mode WEAK --set global_batch=64
  lockstep bench scaling --steps 200 --repeats 5 --output runs/scaling --markdown
  lockstep bench scaling --ranks 8,16,32 --mpirun-options "--hostfile hosts --map-by node")";

constexpr const char* kAllreduceExamples = R"(
Times are those of the slowest rank. algbw is bytes by time, busbw what of it crosses each link at least:
2(R-1)/R. Exit status 70 if a sum was wrong.

Examples:
  mpirun -np 2 lockstep bench allreduce
  lockstep bench allreduce --ranks 4             starts mpirun itself
  mpirun -np 2 lockstep bench allreduce --min 4K --max 64M --dtypes f32,bf16 --algorithms auto --no-mpi
  mpirun -np 8 --hostfile hosts lockstep bench allreduce --output runs/allreduce --tune tuned.textproto)";

const std::map<std::string, std::vector<ScalingMode>> kScalingModes{
    {"WEAK", {ScalingMode::kWeak}},
    {"STRONG", {ScalingMode::kStrong}},
    {"BOTH", {ScalingMode::kWeak, ScalingMode::kStrong}}};

int compare(const CommandLine& given) {
  const train::RunComparison comparison = train::compare_runs(given.first, given.second);
  std::cout << comparison.text << '\n';
  return comparison.equal ? kDone : kRunsDiffer;
}

/// The command line as one types it.
std::string joined(int argc, const char* const* argv) {
  std::string line;
  for (int i = 0; i < argc; ++i) {
    const std::string word = i == 0 ? "lockstep" : argv[i];
    const bool plain = word.find_first_of(" \t\"'$*{}[];&|<>\\") == std::string::npos;
    line += (i == 0 ? "" : " ") + (plain ? word : "'" + word + "'");
  }
  return line;
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

CLI::App* add_bench_scaling(CLI::App& bench, BenchScalingOptions& options) {
  CLI::App* command = bench.add_subcommand("scaling", "weak and strong scaling of training over ranks");
  command->footer(kScalingExamples);
  command->add_option("recipe", options.recipe,
                      "name of a recipe or a .textproto file; default fashion_mnist");
  add_sets(*command, options.sets);
  command->add_option("--ranks", options.ranks, "numbers of ranks; the first is compared with")
      ->type_name("N,N,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      ->add_option_function<std::string>(
          "--mode", [&options](const std::string& name) { options.modes = kScalingModes.at(name); },
          "which scaling; default BOTH")
      ->check(CLI::IsMember({"WEAK", "STRONG", "BOTH"}));
  command->add_option("--steps", options.steps, "measured in each run")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--warmup", options.warmup, "steps before them")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--repeats", options.repeats, "runs of every case")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--threads", options.threads, "per rank; default the recipe's, 1 where that says 0")
      ->check(CLI::PositiveNumber);
  command->add_option("--deadline", options.deadline_seconds, "seconds that a run may take")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--output", options.output, "a folder; default a new one below runs/")
      ->type_name("DIR");
  command->add_option("--train", options.train, "the program of a rank; default `train` beside this one");
  command->add_option("--mpirun-options", options.mpirun_options,
                      "instead of `--bind-to none`: hosts, mapping, binding");
  command->add_flag("--markdown", options.markdown, "print how and on what the table was made, too");
  return command;
}

CLI::App* add_bench_allreduce(CLI::App& bench, BenchAllreduceOptions& options) {
  CLI::App* command =
      bench.add_subcommand("allreduce", "all-reduce by size, algorithm and type; under mpirun");
  command->footer(kAllreduceExamples);
  const auto add_size = [&](const char* name, size_t& value, const char* text) {
    command
        ->add_option_function<std::string>(
            name, [&value](const std::string& given) { value = parse_bytes(given); }, text)
        ->type_name("BYTES");
  };
  add_size("--min", options.smallest, "smallest buffer, as 4, 8K or 1M; default 4");
  add_size("--max", options.largest, "largest; default 256M");
  command->add_option("--factor", options.factor, "from size to size")
      ->check(CLI::Range(2, 1 << 20))
      ->capture_default_str();
  const auto add_list = [&](const char* name, std::vector<std::string>& value, const char* text) {
    command->add_option(name, value, text)->type_name("NAME,...")->delimiter(',')->allow_extra_args(false);
  };
  add_list("--algorithms", options.measure.algorithms,
           "names or selections as comm.algorithm takes them; default auto and all that there are");
  add_list("--dtypes", options.dtypes, "of f32, f16, bf16, f64, i64, i32, u8; default f32");
  add_list("--codecs", options.codecs,
           "of none, fp16, bf16: what f32 is rounded to on its way; default none");
  command->add_flag("--mpi,!--no-mpi", options.measure.baselines, "MPI_Allreduce, by each of its algorithms");
  command->add_option("--seconds", options.measure.seconds, "that each algorithm takes for each size, about")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--iterations", options.measure.iterations, "of each, at least")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--rounds", options.measure.rounds, "in which all take turns")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--warmup", options.measure.warmup, "iterations before those of a round")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_flag("--verify,!--no-verify", options.measure.verify, "that every sum is exact");
  command->add_flag("--shared-memory,!--no-shared-memory", options.shared_memory,
                    "between ranks of a machine");
  command->add_flag("!--fast", options.reproducible, "also what numerics: FAST allows");
  command->add_option("--output", options.output, "a folder for allreduce.jsonl and a picture")
      ->type_name("DIR");
  command->add_option("--tune", options.tune, "a file for the fastest algorithms, for comm.tuning of train")
      ->type_name("FILE");
  command->add_option("--ranks", options.ranks, "without mpirun: it is started with so many")
      ->check(CLI::Range(2, 1 << 16))
      ->capture_default_str();
  command->add_option("--mpirun-options", options.mpirun_options,
                      "without mpirun: instead of `--bind-to none`");
  return command;
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

  CLI::App* bench = app.add_subcommand("bench", "measure");
  bench->require_subcommand(1);
  given.scaling.command = joined(argc, argv);
  add_bench_scaling(*bench, given.scaling)->final_callback([&] {
    status = bench_scaling_command(given.scaling, own);
  });
  add_bench_allreduce(*bench, given.allreduce)->final_callback([&] {
    status = bench_allreduce_command(given.allreduce, {argv + 1, argv + argc});
  });

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
