#include "train/tensor_match.h"

#include <map>
#include <utility>

#include "runtime/error.h"
#include "train/nearest_name.h"

namespace lockstep::train {
namespace {

constexpr size_t kMostListed = 20;

struct Comparison {
  std::vector<std::pair<Tensor, NamedTensor>> matching;  // source, target
  std::vector<std::string> missing;                      // only among the targets
  std::vector<std::string> unexpected;                   // only among the sources
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
      result.matching.emplace_back(source, target);
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

std::string list_text(const char* title, const std::vector<std::string>& names) {
  return names.empty() ? "" : to_text("\n  ", names.size(), ' ', title, ": ", joined(names, kMostListed));
}

}  // namespace

std::vector<std::string> load_by_name(const std::string& origin, const std::vector<NamedTensor>& sources,
                                      const std::vector<NamedTensor>& targets, Matching matching) {
  const Comparison found = compare(sources, targets);
  const bool all = found.missing.empty() && found.unexpected.empty() && found.different.empty();
  const bool some = !found.matching.empty() || targets.empty();
  check<DataError>(all || (matching == Matching::kLenient && some), "load", '"', origin,
                   "\": ", found.matching.size(), " of ", targets.size(),
                   " tensors match:", list_text("missing", found.missing),
                   list_text("unexpected", found.unexpected), list_text("different", found.different));
  std::vector<std::string> copied;
  for (const auto& [source, target] : found.matching) {
    Tensor(target.value).copy_from(source);
    copied.push_back(target.name);
  }
  return copied;
}

}  // namespace lockstep::train
