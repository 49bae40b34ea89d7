// Files of `lockstep bench allreduce --tune`: the fastest algorithms by number of ranks.
#pragma once

#include <string>

#include "proto/train_config.pb.h"
#include "proto/tuning.pb.h"

namespace lockstep::train {

struct RanksLayout {
  int ranks = 1;
  int ranks_per_machine = 1;
};

/// Puts the entry into the file, in place of one of the same layout; makes the file if there is none. Throws
/// ConfigError where the file holds something else, FileError when it cannot be written.
void write_tuning(const std::string& path, const Tuning::Entry& entry);

/// If `config` names a file (comm.tuning) and leaves comm.algorithm at "auto", the file's choice for this
/// layout becomes its comm.algorithm; one for another layout does not count, so "auto" stays. Returns what
/// was done, for the log; "" if nothing was asked for. Throws ConfigError when the file cannot be read.
std::string resolve_tuning(TrainConfig& config, const RanksLayout& layout);

}  // namespace lockstep::train
