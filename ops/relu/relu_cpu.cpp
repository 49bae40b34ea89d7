#include "ops/elementwise/loops.h"

template struct lockstep::ops::cpu::Unary<lockstep::ops::Relu>;
