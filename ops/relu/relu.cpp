#include "ops/relu/relu.h"

#include "ops/elementwise/unary.h"

namespace lockstep::ops {

Tensor relu(const Tensor& x) {
  return unary(Relu{}, x);
}

}  // namespace lockstep::ops
