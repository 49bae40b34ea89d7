#include "train/nearest_name.h"

#include <algorithm>
#include <numeric>

#include "runtime/error.h"

namespace lockstep::train {
namespace {

size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest_name(const std::string& name, const std::vector<std::string>& known) {
  std::string nearest;
  size_t least = std::max<size_t>(1, name.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const size_t distance = edit_distance(name, candidate);
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string known_names_hint(const std::string& name, const std::vector<std::string>& known) {
  const std::string nearest = nearest_name(name, known);
  const std::string guess = nearest.empty() ? "" : "; did you mean \"" + nearest + "\"?";
  return guess + "; known: " + (known.empty() ? "none" : joined(known));
}

std::string joined(const std::vector<std::string>& parts, size_t most) {
  std::string text;
  for (size_t i = 0; i < std::min(parts.size(), most); ++i) text += (i == 0 ? "" : ", ") + parts[i];
  return parts.size() > most ? to_text(text, ", and ", parts.size() - most, " more") : text;
}

}  // namespace lockstep::train
