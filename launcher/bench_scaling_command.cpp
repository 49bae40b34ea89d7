#include "launcher/bench_scaling_command.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "launcher/environment.h"
#include "launcher/exit_status.h"
#include "launcher/scaling_plot.h"
#include "launcher/signals.h"
#include "launcher/train_options.h"
#include "runtime/cpu_name.h"
#include "runtime/error.h"
#include "runtime/log.h"
#include "runtime/threads.h"
#include "train/child_process.h"
#include "train/config.h"
#include "train/config_check.h"
#include "train/files.h"
#include "train/gnuplot.h"
#include "train/open_run.h"
#include "train/run_directory.h"

namespace lockstep::launcher {
namespace {

namespace fs = std::filesystem;

/// How much of the output of a run that failed is shown.
constexpr size_t kLastWords = 15;  // lines

/// The recipe as it is measured: every step in the metrics and nothing between two steps that is not
/// training.
TrainConfig measured_config(const BenchScalingOptions& options, const train::Extensions& own) {
  TrainOptions recipe;
  recipe.recipe = options.recipe;
  recipe.sets = options.sets;
  TrainConfig config = resolve_config(recipe, find_recipes_folder(), own);
  config.set_threads(std::max({options.threads, options.threads == 0 ? config.threads() : 0, 1}));
  config.set_epochs(0);
  config.set_max_steps(options.warmup + options.steps);
  config.set_drop_last(true);
  config.mutable_data()->set_test_limit(1);
  config.mutable_evaluation()->set_every_epochs(0);
  config.mutable_evaluation()->set_patience(0);
  config.mutable_evaluation()->set_keep_best(false);
  config.mutable_checkpoint()->set_every_steps(0);
  config.mutable_checkpoint()->set_every_epochs(0);
  config.mutable_metrics()->set_every(1);
  config.mutable_metrics()->set_hash_every(0);
  config.mutable_metrics()->set_tensorboard(false);
  config.mutable_metrics()->set_curves(false);
  return config;
}

std::vector<ScalingCase> cases_of(ScalingMode mode, const BenchScalingOptions& options, int64_t batch) {
  std::vector<ScalingCase> cases;
  for (const int ranks : options.ranks) cases.push_back(scaling_case(mode, ranks, batch));
  return cases;
}

/// Those of all modes, which may have some in common, in order of ranks.
std::set<ScalingCase> all_cases(const BenchScalingOptions& options, int64_t batch) {
  std::set<ScalingCase> all;
  for (const ScalingMode mode : options.modes) {
    for (const ScalingCase& what : cases_of(mode, options, batch)) all.insert(what);
  }
  return all;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

std::string last_lines(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  std::string text;
  for (size_t i = lines.size() - std::min(lines.size(), kLastWords); i < lines.size(); ++i) {
    text += "  " + lines[i] + '\n';
  }
  return text;
}

/// Runs the cases.
class Bench {
 public:
  Bench(const BenchScalingOptions& options, TrainConfig config, std::string output,
        const std::atomic<bool>& stop)
      : options_(options), config_(std::move(config)), output_(std::move(output)), stop_(stop) {
    program_ = options.train;
    if (program_.empty()) program_ = fs::read_symlink("/proc/self/exe").parent_path() / "train";
    if (::geteuid() != 0) {
      environment_ = environment_with({});
    } else {
      log::info("running as root: telling mpirun that it may");
      environment_ = environment_with({"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"});
    }
  }

  RunFigures run(const ScalingCase& what, int repeat) {
    const std::string name = to_text("ranks", what.ranks, "-batch", what.global_batch, "-repeat", repeat);
    const train::RunDirectory run{output_ + "/" + name};
    config_.set_global_batch(what.global_batch);
    train::replace_file(run.root + ".textproto",
                        [&](train::FileWriter& file) { file.append(train::config_text(config_)); });
    start(what, run);
    const RunFigures figures = figures_of(train::read_metrics(run.metrics()), options_.warmup);
    fs::remove_all(run.checkpoints());
    fs::remove(run.model());
    log::info(name, ": ", figures.samples_per_second, " samples/s");
    return figures;
  }

 private:
  std::vector<std::string> command(const ScalingCase& what, const train::RunDirectory& run) const {
    std::vector<std::string> words{"mpirun", "-np", std::to_string(what.ranks)};
    if (options_.mpirun_options.empty()) {
      words.insert(words.end(), {"--bind-to", "none"});
      if (what.ranks * config_.threads() > allowed_cores()) words.emplace_back("--oversubscribe");
    } else {
      for (const std::string& word : words_of(options_.mpirun_options)) words.push_back(word);
    }
    words.insert(words.end(), {program_, run.root + ".textproto", "--output", run.root});
    return words;
  }

  void start(const ScalingCase& what, const train::RunDirectory& run) const {
    const std::string log_file = run.root + ".log";
    const train::ChildOutcome outcome =
        train::run_child(command(what, run), {.deadline = train::milliseconds(options_.deadline_seconds),
                                              .environment = environment_,
                                              .output = log_file,
                                              .stop = &stop_});
    if (outcome.succeeded) return;
    check<Error>(!outcome.stopped, "bench scaling", "stopped; what was measured is in ", output_);
    check<ConfigError>(outcome.problem != "not found", "bench scaling",
                       "mpirun was not found in PATH; Debian has it in the package openmpi-bin");
    throw Error(to_text("[bench scaling] training on ", what.ranks, what.ranks == 1 ? " rank" : " ranks",
                        " failed, ", outcome.problem, "; its last words:\n", last_lines(log_file),
                        "all of them are in ", log_file));
  }

  const BenchScalingOptions& options_;
  TrainConfig config_;
  std::string output_;
  const std::atomic<bool>& stop_;
  std::string program_;
  std::vector<std::string> environment_;
};

std::string json_line(const ScalingCase& what, int repeat, const TrainConfig& config,
                      const RunFigures& figures) {
  nlohmann::ordered_json line{{"ranks", what.ranks},
                              {"global_batch", what.global_batch},
                              {"repeat", repeat},
                              {"threads", config.threads()},
                              {"cores", allowed_cores()},
                              {"samples_per_second", figures.samples_per_second},
                              {"step_seconds", figures.step_seconds()}};
  for (size_t i = 0; i < kPhases.size(); ++i) line[kPhases[i]] = figures.phases[i];
  line["peak_memory_bytes"] = figures.peak_memory;
  return line.dump() + '\n';
}

std::string made_by(const BenchScalingOptions& options, int threads) {
  return to_text("Made by\n\n    ", options.command, "\n\non ", allowed_cores(), " cores of ", cpu_name(),
                 ", ", threads, threads == 1 ? " thread" : " threads", " per rank; ", options.repeats,
                 " runs of every case, ", options.steps, " steps after ", options.warmup, " to warm up.\n\n");
}

void print(const std::vector<ScalingSeries>& all, const BenchScalingOptions& options, int threads) {
  if (options.markdown) std::cout << made_by(options, threads);
  for (const ScalingSeries& series : all) {
    std::cout << (series.mode == ScalingMode::kWeak ? "Weak" : "Strong")
              << " scaling, times in ms per step:\n\n"
              << scaling_table(series, threads, allowed_cores()) << '\n';
  }
  std::cout << std::flush;
}

}  // namespace

int bench_scaling_command(const BenchScalingOptions& options, const train::Extensions& own) {
  check<ConfigError>(!identify(environment_variable).has_launcher(), "bench scaling",
                     "starts mpirun itself: call it without");
  const TrainConfig config = measured_config(options, own);
  const int64_t batch = config.global_batch();
  const std::set<ScalingCase> cases = all_cases(options, batch);
  for (const ScalingCase& what : cases) train::validate_for(config, what.ranks);
  const std::string output = options.output.empty() ? train::new_run_name("scaling") : options.output;
  fs::create_directories(output);
  check<ConfigError>(!fs::exists(output + "/scaling.jsonl"), "bench scaling", "\"", output,
                     "\" holds measurements already; give another --output");

  block_signals();
  train::Requests requests;
  const SignalThread signals(requests, false, "ending the run that is measured");
  Bench bench(options, config, fs::absolute(output), requests.stop);
  std::ofstream lines(output + "/scaling.jsonl");
  ScalingRuns runs;
  for (int repeat = 1; repeat <= options.repeats; ++repeat) {
    for (const ScalingCase& what : cases) {
      runs[what].push_back(bench.run(what, repeat));
      lines << json_line(what, repeat, config, runs[what].back()) << std::flush;
      check<Error>(lines.good(), "bench scaling", "cannot write ", output, "/scaling.jsonl");
    }
  }
  std::vector<ScalingSeries> all;
  for (const ScalingMode mode : options.modes)
    all.push_back({mode, scaling_rows(cases_of(mode, options, batch), runs)});
  print(all, options, config.threads());
  const std::string title = to_text(config.model().name(), " on ", config.data().name());
  const std::string problem = train::draw(output, "scaling", scaling_plot(all, title), {});
  if (!problem.empty()) log::info("no picture was drawn; ", problem);
  log::info("runs: ", output, "/scaling.jsonl");
  if (problem.empty()) log::info("picture: ", output, "/scaling.png");
  return kDone;
}

}  // namespace lockstep::launcher
