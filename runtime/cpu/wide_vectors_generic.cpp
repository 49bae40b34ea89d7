#include "runtime/wide_vectors.h"

namespace lockstep {

// Nothing is marked: there is one version only.
bool has_wide_vectors() {
  return false;
}

}  // namespace lockstep
