#include "train/compare.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include "runtime/error.h"
#include "train/metrics_file.h"
#include "train/run_directory.h"

namespace lockstep::train {
namespace {

using Json = nlohmann::ordered_json;
using Steps = std::map<int64_t, Json>;

constexpr const char* kHash = "weights_hash";
constexpr const char* kTensorHashes = "tensor_hashes";
/// What is told first of a step; metrics and whatever else a run measures follow.
constexpr std::array kFirstFields{"epoch", "samples", "lr", "loss", kHash, "eval_count", "eval_loss"};
/// Times and memory are never the same; tensors are looked at where the hash of all differs.
constexpr std::array kNotCompared{"step",
                                  "samples_per_second",
                                  "wall_time",
                                  "data_seconds",
                                  "forward_seconds",
                                  "backward_seconds",
                                  "communication_seconds",
                                  "optimizer_seconds",
                                  "other_seconds",
                                  "memory_bytes",
                                  "peak_memory_bytes",
                                  kTensorHashes};

/// The fields of all lines of a step together.
Steps read_steps(const std::string& run) {
  Steps steps;
  for (const MetricsLine& line : read_metrics(RunDirectory{run}.metrics()))
    steps[line.step].update(line.fields);
  return steps;
}

std::vector<std::string> fields_to_compare(const Steps& steps) {
  std::vector<std::string> names(kFirstFields.begin(), kFirstFields.end());
  std::set<std::string> known(names.begin(), names.end());
  known.insert(kNotCompared.begin(), kNotCompared.end());
  for (const auto& [step, fields] : steps) {
    for (const auto& [name, value] : fields.items()) {
      if (known.insert(name).second) names.push_back(name);
    }
  }
  return names;
}

/// What became of one field over all steps that both runs have.
struct FieldHistory {
  std::string field;
  int64_t compared = 0;
  int64_t different = 0;
  int64_t first_different = 0;  // steps
  int64_t last_equal = 0;       // before the first difference
};

FieldHistory follow(const std::string& field, const Steps& a, const Steps& b) {
  FieldHistory history{.field = field};
  for (const auto& [step, fields] : a) {
    const auto other = b.find(step);
    if (other == b.end() || !fields.contains(field) || !other->second.contains(field)) continue;
    ++history.compared;
    if (fields[field].dump() == other->second[field].dump()) {  // as text, so that -0 is not 0
      if (history.different == 0) history.last_equal = step;
    } else if (history.different++ == 0) {
      history.first_different = step;
    }
  }
  return history;
}

std::string tensors_text(const Json& a, const Json& b) {
  if (!a.contains(kTensorHashes) || !b.contains(kTensorHashes)) return "";
  std::vector<std::string> names;
  for (const auto& [name, hash] : a[kTensorHashes].items()) {
    if (!b[kTensorHashes].contains(name) || b[kTensorHashes][name] != hash) names.push_back(name);
  }
  if (names.empty()) return "\n    the tensors agree in content, but not in number or order";
  return to_text("\n    first tensor that differs: ", names.front(), " (", names.size(), " of ",
                 a[kTensorHashes].size(), " differ)");
}

std::string difference_text(const FieldHistory& history, const Json& a, const Json& b) {
  std::ostringstream text;
  text << "\n  step " << history.first_different << ": " << history.field << ' ' << a[history.field].dump()
       << " / " << b[history.field].dump() << "; differs at " << history.different << " of "
       << history.compared << " steps";
  if (history.last_equal > 0) text << ", equal up to step " << history.last_equal;
  if (history.field == kHash) text << tensors_text(a, b);
  return text.str();
}

size_t steps_in_both(const Steps& a, const Steps& b) {
  return static_cast<size_t>(
      std::count_if(a.begin(), a.end(), [&](const auto& step) { return b.contains(step.first); }));
}

std::string extent_text(const char* title, const std::string& run, const Steps& steps) {
  if (steps.empty()) return to_text(title, run, ": no steps\n");
  return to_text(title, run, ": ", steps.size(), " steps, ", steps.begin()->first, " to ",
                 steps.rbegin()->first, '\n');
}

}  // namespace

RunComparison compare_runs(const std::string& run_a, const std::string& run_b) {
  const Steps a = read_steps(run_a);
  const Steps b = read_steps(run_b);
  std::string text = extent_text("A: ", run_a, a) + extent_text("B: ", run_b, b);
  const size_t common = steps_in_both(a, b);
  if (common == 0) return {false, text + "no step is in both: nothing to compare"};

  std::vector<FieldHistory> differing;
  bool hashed = false;
  for (const std::string& field : fields_to_compare(a)) {
    const FieldHistory history = follow(field, a, b);
    if (history.different > 0) differing.push_back(history);
    hashed = hashed || (field == kHash && history.compared > 0);
  }
  std::stable_sort(differing.begin(), differing.end(),
                   [](const FieldHistory& one, const FieldHistory& other) {
                     return one.first_different < other.first_different;
                   });

  if (!differing.empty()) {
    text += to_text("the runs differ from step ", differing.front().first_different, " on (A / B):");
    for (const FieldHistory& history : differing) {
      text += difference_text(history, a.at(history.first_different), b.at(history.first_different));
    }
  } else if (common < std::max(a.size(), b.size())) {
    text += to_text("no value differs at the ", common, " steps that both have");
  } else {
    text += to_text("equal, bit by bit, at all ", common, " steps");
  }
  if (!hashed)
    text += "\nweights were not compared: no step of both has a weights_hash (see metrics.hash_every)";
  return {differing.empty() && common == a.size() && common == b.size(), text};
}

}  // namespace lockstep::train
