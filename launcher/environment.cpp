#include "launcher/environment.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "runtime/error.h"

namespace lockstep::launcher {
namespace {

/// One launcher's names for the four numbers.
struct Variables {
  const char* launcher;
  const char* rank;
  const char* size;
  const char* local_rank;
  const char* local_size;
};

constexpr Variables kLaunchers[] = {
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
};

std::optional<int> number(const Lookup& lookup, const std::string& name) {
  const std::optional<std::string> text = lookup(name);
  if (!text) return std::nullopt;
  int value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  check<ConfigError>(error == std::errc() && end == text->data() + text->size() && value >= 0, "environment",
                     name, "=", *text, " is not a number >= 0");
  return value;
}

/// "2(x3),1" with node 3 is 1: the tasks of one node in Slurm's compressed list.
std::optional<int> tasks_on_node(const std::string& list, int node) {
  size_t at = 0;
  int first = 0;
  while (at < list.size()) {
    const size_t end = std::min(list.find(',', at), list.size());
    const std::string item = list.substr(at, end - at);
    int tasks = 0;
    int repeat = 1;
    const auto parsed = std::from_chars(item.data(), item.data() + item.size(), tasks);
    if (parsed.ec != std::errc()) return std::nullopt;
    const size_t times = item.find("(x");
    if (times != std::string::npos)
      std::from_chars(item.data() + times + 2, item.data() + item.size(), repeat);
    first += repeat;
    if (node < first) return tasks;
    at = end + 1;
  }
  return std::nullopt;
}

Identity from_slurm_step(const Lookup& lookup) {
  Identity identity;
  identity.launcher = "Slurm step";
  identity.rank = number(lookup, "SLURM_PROCID").value_or(0);
  identity.size = number(lookup, "SLURM_STEP_NUM_TASKS").value_or(number(lookup, "SLURM_NTASKS").value_or(1));
  identity.local_rank = number(lookup, "SLURM_LOCALID").value_or(0);
  const int node = number(lookup, "SLURM_NODEID").value_or(0);
  const auto tasks = tasks_on_node(lookup("SLURM_STEP_TASKS_PER_NODE").value_or(""), node);
  identity.local_size = tasks.value_or(identity.size);
  return identity;
}

Identity from_launcher(const Lookup& lookup) {
  for (const Variables& names : kLaunchers) {
    const std::optional<int> rank = number(lookup, names.rank);
    if (!rank) continue;
    Identity identity;
    identity.launcher = names.launcher;
    identity.rank = *rank;
    identity.size = number(lookup, names.size).value_or(1);
    identity.local_rank = number(lookup, names.local_rank).value_or(identity.rank);
    identity.local_size = number(lookup, names.local_size).value_or(identity.size);
    return identity;
  }
  if (lookup("SLURM_STEP_ID")) return from_slurm_step(lookup);
  Identity alone;
  alone.launcher = "none";
  if (lookup("SLURM_JOB_ID") && number(lookup, "SLURM_NTASKS").value_or(1) > 1) {
    alone.hint = to_text("this Slurm job has ", *lookup("SLURM_NTASKS"),
                         " tasks, but the program was started without mpirun or srun: running as one rank");
  }
  return alone;
}

}  // namespace

std::optional<std::string> environment_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::vector<std::string> environment_with(const std::vector<std::string>& assignments) {
  std::vector<std::string> all = assignments;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string own = *variable;
    const std::string name = own.substr(0, own.find('=') + 1);
    const bool replaced = std::ranges::any_of(
        assignments, [&](const std::string& assignment) { return assignment.starts_with(name); });
    if (!replaced) all.push_back(own);
  }
  return all;
}

Identity identify(const Lookup& lookup) {
  Identity identity = from_launcher(lookup);
  check<ConfigError>(identity.rank < identity.size, "environment", identity.launcher, " gives rank ",
                     identity.rank, " of ", identity.size, " ranks");
  const std::optional<int> rank = number(lookup, "RANK");
  const std::optional<int> size = number(lookup, "WORLD_SIZE");
  if (rank && size && *size > 1) {
    check<ConfigError>(identity.has_launcher(), "environment", "RANK=", *rank, " and WORLD_SIZE=", *size,
                       " are set, but no MPI launcher started this process; start it with mpirun -np ",
                       *size);
    check<ConfigError>(*rank == identity.rank && *size == identity.size, "environment", "RANK=", *rank,
                       " WORLD_SIZE=", *size, " disagree with ", identity.launcher, ": rank ", identity.rank,
                       " of ", identity.size, "; unset the wrong ones");
  }
  return identity;
}

int openmp_threads(const Lookup& lookup) {
  const std::string text = lookup("OMP_NUM_THREADS").value_or("");
  return number(
             [&](const std::string&) -> std::optional<std::string> {
               return text.empty() ? std::optional<std::string>() : text.substr(0, text.find(','));
             },
             "OMP_NUM_THREADS")
      .value_or(0);
}

}  // namespace lockstep::launcher
