#include "train/tuning.h"

#include <google/protobuf/text_format.h>

#include <filesystem>
#include <fstream>

#include "comm/algorithms/selection.h"
#include "runtime/error.h"
#include "train/config.h"
#include "train/files.h"

namespace lockstep::train {
namespace {

constexpr const char* kHeading =
    "# The fastest algorithms of all-reduce, by `lockstep bench allreduce --tune`; for `comm.tuning` of "
    "train.\n";

Tuning read_tuning(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  check<ConfigError>(file.good() && !std::filesystem::is_directory(path), "comm.tuning", "cannot read \"",
                     path, "\"");
  Tuning tuning;
  parse_message({std::istreambuf_iterator<char>(file), {}}, path, tuning);
  return tuning;
}

bool is_for(const Tuning::Entry& entry, const RanksLayout& layout) {
  return entry.ranks() == layout.ranks && entry.ranks_per_machine() == layout.ranks_per_machine;
}

}  // namespace

void write_tuning(const std::string& path, const Tuning::Entry& entry) {
  const Tuning before = std::filesystem::exists(path) ? read_tuning(path) : Tuning();
  Tuning after;
  for (const Tuning::Entry& other : before.entry()) {
    if (!is_for(other, {entry.ranks(), entry.ranks_per_machine()})) *after.add_entry() = other;
  }
  *after.add_entry() = entry;
  std::string text;
  ensure(google::protobuf::TextFormat::PrintToString(after, &text), "comm.tuning",
         "cannot print the entries");
  replace_file(path, [&](FileWriter& file) { file.append(kHeading + text); });
}

std::string resolve_tuning(TrainConfig& config, const RanksLayout& layout) {
  TrainConfig::Comm& comm = *config.mutable_comm();
  if (comm.tuning().empty() || layout.ranks == 1) return "";
  if (comm.algorithm() != "auto") return "comm.tuning is not read, because comm.algorithm is given";
  const std::string place = to_text(layout.ranks, " ranks, ", layout.ranks_per_machine, " on each machine");
  const Tuning tuning = read_tuning(comm.tuning());
  for (const Tuning::Entry& entry : tuning.entry()) {
    if (!is_for(entry, layout)) continue;
    try {
      comm::parse_selection(entry.algorithm(), config.numerics() == TrainConfig::REPRODUCIBLE);
    } catch (const InvalidArgument& error) {
      throw ConfigError(to_text("[comm.tuning] ", comm.tuning(), ": ", error.what()));
    }
    comm.set_algorithm(entry.algorithm());
    return to_text("comm.tuning: ", entry.algorithm(), ", as measured ", entry.measured());
  }
  return to_text("comm.tuning: ", comm.tuning(), " has nothing for ", place);
}

}  // namespace lockstep::train
