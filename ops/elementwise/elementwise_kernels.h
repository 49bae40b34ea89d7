// The passes of element-wise operations over raw memory; a functor of functors.h says what happens to an
// element. The definitions are in loops.h and loops.cuh; the *_cpu.cpp and *_cuda.cu files instantiate them
// for their functors.
#pragma once

#include <cstdint>

#include "ops/elementwise/broadcast.h"

namespace lockstep::ops::cpu {

// All operands of a call are of one type, f32 or bf16.

template <class Functor>
struct Unary {
  /// y[i] = value(x[i]); `y` may be `x`.
  static void value(const Functor& functor, DType dtype, const void* x, void* y, int64_t count);
  /// result[i] = gradient(g[i], saved[i]); `result` may be `g`.
  static void gradient(const Functor& functor, DType dtype, const void* g, const void* saved, void* result,
                       int64_t count);
};

template <class Functor>
struct Binary {
  /// y (contiguous, not an operand) = value(a, b) along the plan.
  static void value(const Functor& functor, DType dtype, const BroadcastPlan& plan, const void* a,
                    const void* b, void* y);
};

}  // namespace lockstep::ops::cpu

namespace lockstep::ops::cuda {

// The same on device memory, in f32, in the order of the default stream.

template <class Functor>
struct Unary {
  static void value(const Functor& functor, const float* x, float* y, int64_t count);
  static void gradient(const Functor& functor, const float* g, const float* saved, float* result,
                       int64_t count);
};

template <class Functor>
struct Binary {
  static void value(const Functor& functor, const BroadcastPlan& plan, const float* a, const float* b,
                    float* y);
};

}  // namespace lockstep::ops::cuda
