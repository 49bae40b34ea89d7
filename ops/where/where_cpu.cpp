#include "ops/cpu/element_size.h"
#include "ops/where/where_kernels.h"
#include "runtime/threads.h"

namespace lockstep::ops::cpu {
namespace {

constexpr int64_t kGrain = 1 << 14;  // elements per thread at least

}  // namespace

void where(const uint8_t* condition, const void* a, const void* b, int64_t count, size_t element_size,
           void* result) {
  visit_element_size("where", element_size, [=]<class T>(T) {
    const auto* if_set = static_cast<const T*>(a);
    const auto* if_not = static_cast<const T*>(b);
    auto* target = static_cast<T*>(result);
    parallel_for(count, kGrain, [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T yes = if_set[i];  // both are read, so that there is no branch
        const T no = if_not[i];
        target[i] = condition[i] != 0 ? yes : no;
      }
    });
  });
}

void keep_where(const uint8_t* condition, bool chosen, const void* g, int64_t count, size_t element_size,
                void* result) {
  visit_element_size("where", element_size, [=]<class T>(T) {
    const auto* from = static_cast<const T*>(g);
    auto* target = static_cast<T*>(result);
    parallel_for(count, kGrain, [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T kept = from[i];
        target[i] = (condition[i] != 0) == chosen ? kept : T{0};
      }
    });
  });
}

}  // namespace lockstep::ops::cpu
