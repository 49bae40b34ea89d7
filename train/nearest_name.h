// What somebody probably meant who wrote an unknown name.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace lockstep::train {

/// The known name with the fewest insertions, deletions and changes of a character from `name`, the first of
/// several; empty when none is near (more than a third of the characters differ).
std::string nearest_name(const std::string& name, const std::vector<std::string>& known);

/// `; did you mean "x"?` or nothing, then "; known: a, b, c".
std::string known_names_hint(const std::string& name, const std::vector<std::string>& known);

/// "a, b, c", or where there are more than `most` "a, b, and 3 more".
std::string joined(const std::vector<std::string>& parts, size_t most = std::numeric_limits<size_t>::max());

}  // namespace lockstep::train
