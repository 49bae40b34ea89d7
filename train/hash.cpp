#include "train/hash.h"

#include <xxhash.h>

#include <cstdio>
#include <new>

namespace lockstep::train {

Hash64::Hash64() : state_(XXH3_createState(), [](XXH3_state_s* state) { XXH3_freeState(state); }) {
  if (!state_) throw std::bad_alloc();
  XXH3_64bits_reset(state_.get());
}

void Hash64::update(const void* data, size_t nbytes) {
  XXH3_64bits_update(state_.get(), data, nbytes);
}

uint64_t Hash64::value() const {
  return XXH3_64bits_digest(state_.get());
}

std::string to_hex(uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace lockstep::train
