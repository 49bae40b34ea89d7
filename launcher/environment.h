// Who this process is, from the environment that a launcher gave it. The only place that reads environment
// variables.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::launcher {

/// Looks up one variable; tests pass a table instead of the process's own environment.
using Lookup = std::function<std::optional<std::string>(const std::string& name)>;

std::optional<std::string> environment_variable(const std::string& name);

/// This process's variables for another program, "NAME=value", with these assignments in place of its own.
std::vector<std::string> environment_with(const std::vector<std::string>& assignments);

struct Identity {
  std::string launcher;  ///< "none", "Open MPI", "PMI" or "Slurm step"
  int rank = 0;
  int size = 1;
  int local_rank = 0;
  int local_size = 1;
  std::string hint;  ///< for the user, when the surroundings look like a mistake; may be empty
  bool has_launcher() const { return launcher != "none"; }
};

/// Open MPI's and PMI's variables beat Slurm's, since mpirun inside a batch job leaves SLURM_PROCID=0 on
/// every rank; Slurm's count only inside a step. Throws ConfigError quoting both variables when two sources
/// disagree, or naming one that is no number or out of range.
Identity identify(const Lookup& lookup);

/// OMP_NUM_THREADS, 0 where it is unset; of a list "4,2" the first.
int openmp_threads(const Lookup& lookup);

}  // namespace lockstep::launcher
