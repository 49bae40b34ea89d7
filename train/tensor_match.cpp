#include "train/tensor_match.h"

#include <map>
#include <utility>

#include "runtime/error.h"
#include "train/nearest_name.h"

namespace lockstep::train {
namespace {

constexpr size_t kMostListed = 20;

struct Comparison {
  std::vector<std::pair<Tensor, Tensor>> matching;  // source, target
  std::vector<std::string> missing;                 // only among the targets
  std::vector<std::string> unexpected;              // only among the sources
  std::vector<std::string> different;
};

Comparison compare(const std::vector<NamedTensor>& sources, const std::vector<NamedTensor>& targets) {
  std::map<std::string, Tensor> by_name;
  for (const NamedTensor& source : sources) by_name[source.name] = source.value;

  Comparison result;
  for (const NamedTensor& target : targets) {
    const auto found = by_name.find(target.name);
    if (found == by_name.end()) {
      result.missing.push_back(target.name);
      continue;
    }
    const Tensor& source = found->second;
    if (source.shape() == target.value.shape() && source.dtype() == target.value.dtype()) {
      result.matching.emplace_back(source, target.value);
    } else {
      result.different.push_back(to_text(target.name, " (expected ", target.value.dtype(), ' ',
                                         target.value.shape(), ", got ", source.dtype(), ' ', source.shape(),
                                         ')'));
    }
    by_name.erase(found);
  }
  for (const auto& [name, tensor] : by_name) result.unexpected.push_back(name);
  return result;
}

std::string list_text(const char* title, std::vector<std::string> names) {
  if (names.empty()) return "";
  const size_t count = names.size();
  if (count > kMostListed) {
    names.resize(kMostListed);
    names.push_back(to_text("and ", count - kMostListed, " more"));
  }
  return to_text("\n  ", count, ' ', title, ": ", joined(names));
}

}  // namespace

size_t load_by_name(const std::string& origin, const std::vector<NamedTensor>& sources,
                    const std::vector<NamedTensor>& targets, Matching matching) {
  const Comparison found = compare(sources, targets);
  const bool all = found.missing.empty() && found.unexpected.empty() && found.different.empty();
  const bool some = !found.matching.empty() || targets.empty();
  check<DataError>(all || (matching == Matching::kLenient && some), "load", '"', origin,
                   "\": ", found.matching.size(), " of ", targets.size(),
                   " tensors match:", list_text("missing", found.missing),
                   list_text("unexpected", found.unexpected), list_text("different", found.different));
  for (const auto& [source, target] : found.matching) Tensor(target).copy_from(source);
  return found.matching.size();
}

}  // namespace lockstep::train
