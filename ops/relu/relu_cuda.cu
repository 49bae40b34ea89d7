#include "ops/elementwise/loops.cuh"

template struct lockstep::ops::cuda::Unary<lockstep::ops::Relu>;
