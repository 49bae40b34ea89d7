// Loops over elements of any type whose bits are only moved. Only *_cpu.cpp files include this header.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/error.h"

namespace lockstep::ops::cpu {

/// Calls run(T{}) with the unsigned integer of that many bytes: 1, 2, 4 or 8.
template <class Run>
void visit_element_size(const char* operation, size_t element_size, const Run& run) {
  switch (element_size) {
    case 1:
      return run(uint8_t{});
    case 2:
      return run(uint16_t{});
    case 4:
      return run(uint32_t{});
    case 8:
      return run(uint64_t{});
    default:
      ensure(false, operation, "no elements of ", element_size, " bytes");
  }
}

}  // namespace lockstep::ops::cpu
