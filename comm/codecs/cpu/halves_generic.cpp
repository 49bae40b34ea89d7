#include "comm/codecs/halves.h"

namespace lockstep::comm {

const HalfLoops* native_half_loops() {
  return nullptr;
}

}  // namespace lockstep::comm
