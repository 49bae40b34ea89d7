// `lockstep bench allreduce`: how fast gradients could be summed, by size and algorithm.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "launcher/allreduce_bench.h"

namespace lockstep::launcher {

struct BenchAllreduceOptions {
  size_t smallest = 4;  ///< bytes
  size_t largest = size_t{256} << 20;
  int factor = 4;                             ///< from size to size
  std::vector<std::string> dtypes = {"f32"};  ///< names of DType
  std::vector<std::string> codecs = {"none"};
  /// Empty algorithms: auto and all that these ranks can run.
  AllreduceBenchOptions measure = {};
  bool reproducible = true;   ///< only tree order: leaves `ring` out, of measurement and table of --tune
  bool shared_memory = true;  ///< of ranks on a machine
  std::string output = {};    ///< a folder for allreduce.jsonl and the picture; empty: none
  std::string tune = {};      ///< a file that takes the fastest selection; empty: none
  int ranks = 2;              ///< where it starts mpirun itself
  std::string mpirun_options = {};  ///< then; separated by spaces; empty: ranks not bound to cores
};

/// "64", "8K", "25M", "1G": bytes. Throws ConfigError.
size_t parse_bytes(const std::string& text);

/// Measures under mpirun; without, replaces this process by an mpirun of `arguments` (the command line after
/// the program's name). Rank 0 prints a table and writes the files. Returns the exit status: kInternalError
/// when a sum was wrong. Throws ConfigError for what cannot be measured.
int bench_allreduce_command(const BenchAllreduceOptions& options, const std::vector<std::string>& arguments);

}  // namespace lockstep::launcher
