// XXH3, a fast 64-bit hash: it finds damage and differences, and is no protection against intent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

struct XXH3_state_s;

namespace lockstep::train {

/// Hashes a stream of bytes; how they are cut into pieces does not matter.
class Hash64 {
 public:
  Hash64();
  void update(const void* data, size_t nbytes);
  uint64_t value() const;

 private:
  std::unique_ptr<XXH3_state_s, void (*)(XXH3_state_s*)> state_;
};

/// 16 lower-case hexadecimal digits.
std::string to_hex(uint64_t value);

}  // namespace lockstep::train
