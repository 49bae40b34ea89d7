// `lockstep bench scaling`: how the speed of training grows with the ranks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/scaling.h"
#include "train/extensions.h"

namespace lockstep::launcher {

struct BenchScalingOptions {
  std::string recipe = {};  ///< name or file; empty: fashion_mnist
  std::vector<std::string> sets = {};
  std::vector<int> ranks = {1, 2, 4};  ///< the first is what the others are compared with
  std::vector<ScalingMode> modes = {ScalingMode::kWeak, ScalingMode::kStrong};
  int64_t steps = 50;             ///< measured ones of each run
  int64_t warmup = 10;            ///< steps before them
  int repeats = 3;                ///< runs of each case
  int threads = 0;                ///< per rank; 0: the recipe's, 1 where it has none
  double deadline_seconds = 900;  ///< of a run
  std::string output = {};        ///< a folder; empty: a new one below runs/
  std::string train = {};         ///< the program that each rank runs; empty: `train`, beside this one
  std::string mpirun_options =
      {};                    ///< separated by spaces; empty: ranks not bound to cores, all on this machine
  bool markdown = false;     ///< print how the table was made, too
  std::string command = {};  ///< the command line, for that
};

/// Starts `train` under mpirun for every case, again and again: drift of the machine then meets all alike.
/// Prints the tables and leaves in the output folder scaling.jsonl, a line for each run, scaling.svg and
/// scaling.png, and of each run its configuration, output and run directory, without weights and checkpoints.
/// Returns the exit status. Throws ConfigError for what cannot be measured, Error when a run fails, with its
/// last words, or on SIGINT and SIGTERM, which end the run.
int bench_scaling_command(const BenchScalingOptions& options, const train::Extensions& own);

}  // namespace lockstep::launcher
