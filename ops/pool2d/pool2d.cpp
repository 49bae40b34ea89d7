#include "ops/pool2d/pool2d.h"

#include "ops/operands.h"
#include "ops/window.h"

namespace lockstep::ops {

Shape check_pool2d(const char* operation, const Tensor& x, Pool2dOptions& options) {
  check_float(operation, x);
  check_cpu(operation, x);
  if (options.stride == 0) options.stride = options.kernel;
  check(options.kernel >= 1 && options.stride >= 1, operation,
        "expected a kernel of at least 1 and no negative stride, got kernel ", options.kernel, ", stride ",
        options.stride);
  check(options.padding >= 0 && options.padding <= options.kernel / 2, operation,
        "expected a padding from 0 to half of the kernel, got padding ", options.padding, ", kernel ",
        options.kernel);
  check(x.ndim() == 4, operation, "expected input [n, c, h, w], got ", x.shape());
  check(x.count() > 0, operation, "empty batch or image: input ", x.shape());
  const Window window{.kernel = options.kernel, .stride = options.stride, .padding = options.padding};
  check(window.fits(x.dim(2)) && window.fits(x.dim(3)), operation, "the window [", options.kernel, ", ",
        options.kernel, "] is larger than the padded image: input ", x.shape(), ", padding ",
        options.padding);
  return {x.dim(0), x.dim(1), window.positions(x.dim(2)), window.positions(x.dim(3))};
}

}  // namespace lockstep::ops
