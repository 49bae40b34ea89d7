// The command line of `train`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/train_config.pb.h"
#include "train/extensions.h"
#include "train/profiler.h"

namespace lockstep::launcher {

struct TrainOptions {
  std::string recipe;             ///< name or file; empty: none was given
  std::vector<std::string> sets;  ///< "field=value"
  std::string output;             ///< run directory; empty: a new one below runs/
  std::string resume;             ///< "", "latest" or a checkpoint's directory
  int64_t stop_at_step = 0;       ///< 0: none
  train::ProfileOptions profile;
  bool print_config = false;
  bool list = false;
};

/// The options, or the status to exit with at once after --help, --version or a mistake, which was then
/// printed.
struct ParsedCommandLine {
  TrainOptions options;
  std::optional<int> exit_status;
};
ParsedCommandLine parse_train_options(int argc, const char* const* argv);

/// The recipe with every --set applied, checked. When none is given: the configuration of the run that is to
/// be resumed by "latest", else fashion_mnist.
TrainConfig resolve_config(const TrainOptions& options, const std::string& recipes_folder,
                           const train::Extensions& own = {});

/// What --list prints: recipes and everything else that a configuration can name.
std::string list_names(const std::string& recipes_folder, const train::Extensions& own = {});

/// Where the recipes are: beside an installed program, or in the source tree that it was built in.
std::string find_recipes_folder();

}  // namespace lockstep::launcher
