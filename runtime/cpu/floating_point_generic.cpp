#include <cfenv>

#include "runtime/threads.h"

namespace lockstep {

// There is no portable way to flush subnormals; the environment a program starts with keeps them on every
// thread.
void set_floating_point_control() {
  std::fesetenv(FE_DFL_ENV);
}

}  // namespace lockstep
