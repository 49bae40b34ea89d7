#include "comm/reduce_kernels.h"

#include <type_traits>

namespace lockstep::comm {
namespace {

template <class T>
inline constexpr bool kIsStorageOnly = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

struct Sum {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      using Unsigned = std::make_unsigned_t<T>;  // wraps, where a signed sum would be undefined
      return static_cast<T>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
    } else {
      return a + b;
    }
  }
};

// `a != a` is true for NaN only; a NaN in b makes the comparison false, which yields b.
struct Max {
  template <class T>
  static T apply(T a, T b) {
    return (a >= b) | (a != a) ? a : b;
  }
};

struct Min {
  template <class T>
  static T apply(T a, T b) {
    return (a <= b) | (a != a) ? a : b;
  }
};

template <class Op, class T>
T combine(T a, T b) {
  if constexpr (kIsStorageOnly<T>) {
    return T(Op::apply(static_cast<float>(a), static_cast<float>(b)));
  } else {
    return Op::apply(a, b);
  }
}

// The three ways to alias are separate loops, since the compiler vectorises only what it knows not to
// overlap.
template <class Op, class T>
void into_left(int64_t count, T* __restrict left, const T* __restrict right) {
  for (int64_t i = 0; i < count; ++i) left[i] = combine<Op>(left[i], right[i]);
}

template <class Op, class T>
void into_right(int64_t count, const T* __restrict left, T* __restrict right) {
  for (int64_t i = 0; i < count; ++i) right[i] = combine<Op>(left[i], right[i]);
}

template <class Op, class T>
void into_other(int64_t count, const T* left, const T* right, T* __restrict target) {
  for (int64_t i = 0; i < count; ++i) target[i] = combine<Op>(left[i], right[i]);
}

template <class Op, class T>
void reduce_as(int64_t count, const void* left, const void* right, void* target) {
  if (target == left) {
    into_left<Op>(count, static_cast<T*>(target), static_cast<const T*>(right));
  } else if (target == right) {
    into_right<Op>(count, static_cast<const T*>(left), static_cast<T*>(target));
  } else {
    into_other<Op>(count, static_cast<const T*>(left), static_cast<const T*>(right), static_cast<T*>(target));
  }
}

}  // namespace

void reduce(ReduceOp op, DType dtype, int64_t count, const void* left, const void* right, void* target) {
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    switch (op) {
      case ReduceOp::kSum:
        return reduce_as<Sum, T>(count, left, right, target);
      case ReduceOp::kMax:
        return reduce_as<Max, T>(count, left, right, target);
      case ReduceOp::kMin:
        return reduce_as<Min, T>(count, left, right, target);
    }
  });
}

}  // namespace lockstep::comm
