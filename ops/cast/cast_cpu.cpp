#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "ops/cast/cast_kernels.h"
#include "runtime/threads.h"

namespace lockstep::ops::cpu {
namespace {

constexpr int64_t kGrain = 1 << 14;  // elements per thread at least

template <class T>
constexpr bool kIsStorageType = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

/// Integers to integers keep all bits that fit; f16 and bf16 are only ever converted from and to f32.
template <class To, class From>
To convert(From value) {
  if constexpr (kIsStorageType<From>) {
    return convert<To>(static_cast<float>(value));
  } else if constexpr (kIsStorageType<To>) {
    return To(static_cast<float>(value));
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    constexpr auto kLowest = static_cast<From>(std::numeric_limits<To>::min());
    constexpr auto kBeyond = static_cast<From>(std::numeric_limits<To>::max() / 2 + 1) * 2;  // a power of two
    if (std::isnan(value)) return 0;
    if (value < kLowest) return std::numeric_limits<To>::min();
    if (value >= kBeyond) return std::numeric_limits<To>::max();
    return static_cast<To>(value);
  } else if constexpr (std::is_integral_v<To>) {
    if (value < From{0} && std::is_unsigned_v<To>) return 0;
    if (std::cmp_greater(value, std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    if (std::cmp_less(value, std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    return static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace

void cast(const void* from, DType from_dtype, void* to, DType to_dtype, int64_t count) {
  visit_dtype(from_dtype, [&]<class From>(From) {
    visit_dtype(to_dtype, [&]<class To>(To) {
      const auto* source = static_cast<const From*>(from);
      auto* target = static_cast<To*>(to);
      parallel_for(count, kGrain, [=](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) target[i] = convert<To>(source[i]);
      });
    });
  });
}

}  // namespace lockstep::ops::cpu
