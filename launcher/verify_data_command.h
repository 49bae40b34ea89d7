// `lockstep verify-data`: every fault of a data set, without training.
#pragma once

#include <string>
#include <vector>

#include "train/extensions.h"

namespace lockstep::launcher {

struct VerifyDataOptions {
  std::string recipe;  ///< name or file
  std::vector<std::string> sets = {};
  int threads = 1;
};

/// Reads all samples of the recipe's training and evaluation data and prints what is wrong, a line for each
/// fault, then the counts. Returns the exit status: that of data errors when there is a fault.
int verify_data_command(const VerifyDataOptions& options, const train::Extensions& own);

}  // namespace lockstep::launcher
