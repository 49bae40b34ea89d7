#include "parallel/consistency.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "build_config.h"
#include "runtime/error.h"

namespace lockstep::parallel {
namespace {

std::string first_line_with(const char* file, const std::string& key) {
  std::ifstream input(file);
  for (std::string line; std::getline(input, line);) {
    if (line.compare(0, key.size(), key) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

std::string cache_size(int index) {
  std::ifstream input(to_text("/sys/devices/system/cpu/cpu0/cache/index", index, "/size"));
  std::string size = "unknown";
  input >> size;
  return size;
}

/// Facts as one text, a name and a value per line.
std::string serialize(const std::vector<Fact>& facts) {
  std::string text;
  for (const auto& [name, value] : facts) text += name + '\t' + value + '\n';
  return text;
}

std::vector<std::string> gather_texts(comm::Communicator& communicator, const std::string& text,
                                      std::chrono::milliseconds timeout) {
  const auto ranks = static_cast<size_t>(communicator.size());
  int64_t length = static_cast<int64_t>(text.size());
  std::vector<int64_t> lengths(ranks);
  communicator
      .all_gather({&length, 1, DType::kI64}, {lengths.data(), communicator.size(), DType::kI64},
                  {.label = "comparison at start", .timeout = timeout})
      .wait();
  const int64_t longest = *std::max_element(lengths.begin(), lengths.end());
  std::string mine = text;
  mine.resize(static_cast<size_t>(longest), '\0');
  std::string all(static_cast<size_t>(longest) * ranks, '\0');
  communicator
      .all_gather({mine.data(), longest, DType::kU8}, {all.data(), longest * communicator.size(), DType::kU8},
                  {.label = "comparison at start"})
      .wait();
  std::vector<std::string> texts;
  for (size_t r = 0; r < ranks; ++r) {
    texts.push_back(all.substr(r * static_cast<size_t>(longest), static_cast<size_t>(lengths[r])));
  }
  return texts;
}

/// "'name': value of rank 0 against value of rank r", for the first line that differs.
std::string first_difference(const std::string& expected, const std::string& actual) {
  std::istringstream expected_lines(expected);
  std::istringstream actual_lines(actual);
  for (;;) {
    std::string a;
    std::string b;
    const bool has_a = static_cast<bool>(std::getline(expected_lines, a));
    const bool has_b = static_cast<bool>(std::getline(actual_lines, b));
    ensure(has_a || has_b, "consistency", "no line differs");
    if (a == b && has_a == has_b) continue;
    const std::string name = (has_a ? a : b).substr(0, (has_a ? a : b).find('\t'));
    const auto value = [&](const std::string& line, bool present) {
      if (!present) return std::string("(absent)");
      return line.compare(0, name.size() + 1, name + '\t') == 0 ? line.substr(name.size() + 1)
                                                                : "(" + line + ")";
    };
    return to_text("'", name, "': ", value(b, has_b), ", rank 0 has ", value(a, has_a));
  }
}

}  // namespace

std::vector<Fact> machine_facts() {
  return {{"build", kBuildDescription},
          {"cpu", first_line_with("/proc/cpuinfo", "model name")},
          {"cpu flags", first_line_with("/proc/cpuinfo", "flags")},
          {"L1d cache", cache_size(0)},
          {"L2 cache", cache_size(2)},
          {"L3 cache", cache_size(3)}};
}

std::vector<Fact> parameter_facts(const std::vector<Parameter*>& parameters) {
  std::vector<Fact> facts{{"number of parameters", std::to_string(parameters.size())}};
  for (const Parameter* parameter : parameters) {
    facts.emplace_back("parameter " + parameter->name, to_text(parameter->value.shape()));
  }
  return facts;
}

void check_facts(comm::Communicator& communicator, const std::vector<Fact>& facts,
                 std::chrono::milliseconds timeout) {
  if (communicator.size() == 1) return;
  const std::vector<std::string> texts = gather_texts(communicator, serialize(facts), timeout);
  for (size_t r = 1; r < texts.size(); ++r) {
    check<ConfigError>(texts[r] == texts[0], "comparison at start", "rank ", r, " differs from rank 0 in ",
                       texts[r] == texts[0] ? "" : first_difference(texts[0], texts[r]),
                       "; all ranks must have the same configuration, data, build and kind of processor");
  }
}

void check_replicas(comm::Communicator& communicator,
                    const std::vector<std::pair<std::string, uint64_t>>& hashes, int64_t step) {
  if (communicator.size() == 1) return;
  const auto count = static_cast<int64_t>(hashes.size());
  std::vector<int64_t> mine;
  for (const auto& [name, hash] : hashes) mine.push_back(static_cast<int64_t>(hash));
  std::vector<int64_t> all(mine.size() * static_cast<size_t>(communicator.size()));
  communicator
      .all_gather({mine.data(), count, DType::kI64}, {all.data(), count * communicator.size(), DType::kI64},
                  {.label = "comparison of weights"})
      .wait();
  for (int r = 1; r < communicator.size(); ++r) {
    for (size_t i = 0; i < hashes.size(); ++i) {
      check<Error>(all[static_cast<size_t>(r) * mine.size() + i] == all[i], "comparison of weights",
                   "at step ", step, " tensor '", hashes[i].first, "' of rank ", r,
                   " has other bits than that of rank 0; memory or network may be faulty");
    }
  }
}

void broadcast_tensors(comm::Communicator& communicator, const std::vector<Tensor>& tensors) {
  for (Tensor tensor : tensors) {
    communicator
        .broadcast({tensor.raw(), static_cast<int64_t>(tensor.nbytes()), DType::kU8}, 0,
                   {.label = "broadcast of the initial values"})
        .wait();
    tensor.bump_version();
  }
}

}  // namespace lockstep::parallel
