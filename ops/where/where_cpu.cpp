#include "ops/where/where_kernels.h"
#include "runtime/error.h"
#include "runtime/threads.h"

namespace lockstep::ops::cpu {

void where(const uint8_t* condition, const void* a, const void* b, int64_t count, size_t element_size,
           void* result) {
  constexpr int64_t kGrain = 1 << 14;  // elements per thread at least
  const auto run = [=]<class T>(T) {
    const auto* if_set = static_cast<const T*>(a);
    const auto* if_not = static_cast<const T*>(b);
    auto* target = static_cast<T*>(result);
    parallel_for(count, kGrain, [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) target[i] = condition[i] != 0 ? if_set[i] : if_not[i];
    });
  };
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
      ensure(false, "where", "no elements of ", element_size, " bytes");
  }
}

}  // namespace lockstep::ops::cpu
