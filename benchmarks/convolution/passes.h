// The three passes of a convolution as oneDNN primitives in a given form, timed with cold caches.
#pragma once

#include <dnnl.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace lockstep::benchmarks {

/// A square convolution on square images, padded by half of the kernel.
struct Problem {
  int64_t batch;
  int64_t in;
  int64_t out;
  int64_t image;
  int64_t kernel;
  int64_t stride;

  int64_t output_image() const { return (image + 2 * (kernel / 2) - kernel) / stride + 1; }
  /// Of one pass in the direct form; a multiplication and an addition count as two.
  double operations() const {
    return 2.0 * static_cast<double>(batch * in * out * kernel * kernel * output_image() * output_image());
  }
};

enum class Pass { kForward, kBackwardData, kBackwardWeights };
enum class Form {
  kDirect,  ///< in the library's favourite layout
  kDirectChannelsLast,
  kWinograd,
  kMatmul,  ///< of 1x1 convolutions with stride 1, channels last: a product of matrices [positions, channels]
};

struct Timing {
  double seconds;              ///< median
  std::string implementation;  ///< oneDNN's name
};

/// Nothing where the library has no such form. `seconds` is spent on it, and five repetitions at least.
std::optional<Timing> time_pass(const Problem& problem, Pass pass, Form form, dnnl::memory::data_type type,
                                double seconds);

}  // namespace lockstep::benchmarks
