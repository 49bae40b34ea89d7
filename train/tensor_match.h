// Loading tensors of a file into a model by name.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/parameter.h"

namespace lockstep::train {

enum class Matching {
  kStrict,   ///< names, shapes and dtypes must agree one to one
  kLenient,  ///< what agrees is loaded, the rest stays as it is; to start from weights of a similar model
};

/// Copies each source into the target of its name, in place, and returns the names of those that were copied,
/// in the targets' order. When the matching does not allow it, nothing is copied and DataError lists the
/// names that are missing, unexpected and different; `origin` says where the sources came from. Lenient
/// matching fails too when nothing at all agrees.
std::vector<std::string> load_by_name(const std::string& origin, const std::vector<NamedTensor>& sources,
                                      const std::vector<NamedTensor>& targets,
                                      Matching matching = Matching::kStrict);

}  // namespace lockstep::train
