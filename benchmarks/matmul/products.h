// Matrix products by oneDNN in a given form, timed with cold caches.
#pragma once

#include <cstdint>

namespace lockstep::benchmarks {

/// c [m, n] = op(a) op(b), inner extent k.
struct Product {
  int64_t m;
  int64_t n;
  int64_t k;
  bool transpose_a;
  bool transpose_b;

  double operations() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
};

enum class Form {
  kMatmul,         ///< dnnl::matmul, every operand row-major
  kMatmulPadded,   ///< the same with a cache line between the rows of b
  kMatmulPacked,   ///< the same with b in the layout that the library likes best, brought there beforehand
  kMatmulPacking,  ///< the same, and the time to bring it there
  kSgemm           ///< dnnl::sgemm
};

/// Median of the seconds that it takes. `seconds` is spent on it, and five repetitions at least.
double time_product(const Product& product, Form form, double seconds);

}  // namespace lockstep::benchmarks
