#include "ops/elementwise/loops.h"

namespace lockstep::ops::cpu {

template struct Unary<Neg>;
template struct Unary<Scale>;
template struct Unary<AddScalar>;
template struct Unary<Exp>;
template struct Unary<Log>;
template struct Unary<Sqrt>;
template struct Unary<Square>;
template struct Unary<Abs>;
template struct Unary<Clamp>;
template struct Unary<Tanh>;
template struct Unary<Sigmoid>;
template struct Unary<Silu>;
template struct Unary<Gelu>;
template struct Unary<GeluTanh>;

template struct Binary<Add>;
template struct Binary<Sub>;
template struct Binary<Mul>;
template struct Binary<Div>;

}  // namespace lockstep::ops::cpu
