#include <algorithm>

#include "ops/adaptive_avg_pool2d/adaptive_avg_pool2d_kernels.h"
#include "ops/cast/cast.h"
#include "ops/operands.h"
#include "ops/pool2d/pool2d_cpu.h"
#include "runtime/threads.h"

namespace lockstep::ops {
namespace {

constexpr int64_t kGrain = 1 << 14;  // pixels that one thread handles at least

/// Windows of one size side by side: what the library knows.
bool windows_are_equal(const Shape& image, const Shape& result) {
  return image[2] % result[2] == 0 && image[3] % result[3] == 0;
}

onednn::Pooling equal_windows(const Shape& image, const Shape& result) {
  const dnnl::memory::dims window{image[2] / result[2], image[3] / result[3]};
  return {"adaptive_avg_pool2d", dnnl::algorithm::pooling_avg_exclude_padding, window, window, {0, 0}};
}

struct Range {
  int64_t begin;
  int64_t end;
};

/// What part `index` of `parts` covers of an extent.
Range part(int64_t index, int64_t parts, int64_t extent) {
  return {index * extent / parts, ((index + 1) * extent + parts - 1) / parts};
}

struct Window {
  int64_t position;     // in the result
  int64_t first_pixel;  // of its plane of the image
  Range rows;
  Range columns;

  int64_t count() const { return (rows.end - rows.begin) * (columns.end - columns.begin); }
};

/// Threads share out the planes, so that windows of one plane, which may overlap, come one after another.
template <class Visit>
void for_each_window(const Shape& image, const Shape& result, Visit visit) {
  const int64_t pixels = image[2] * image[3];
  const int64_t grain = std::max<int64_t>(1, kGrain / pixels);
  parallel_for(image[0] * image[1], grain, [&](int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane) {
      for (int64_t i = 0; i < result[2]; ++i) {
        for (int64_t j = 0; j < result[3]; ++j) {
          visit(Window{(plane * result[2] + i) * result[3] + j, plane * pixels, part(i, result[2], image[2]),
                       part(j, result[3], image[3])});
        }
      }
    }
  });
}

float average(const float* plane, int64_t width, const Window& window) {
  double sum = 0;
  for (int64_t row = window.rows.begin; row < window.rows.end; ++row) {
    for (int64_t column = window.columns.begin; column < window.columns.end; ++column) {
      sum += plane[row * width + column];
    }
  }
  return static_cast<float>(sum / static_cast<double>(window.count()));
}

void add_share(float grad, float* plane, int64_t width, const Window& window) {
  const float share = grad / static_cast<float>(window.count());
  for (int64_t row = window.rows.begin; row < window.rows.end; ++row) {
    for (int64_t column = window.columns.begin; column < window.columns.end; ++column) {
      plane[row * width + column] += share;
    }
  }
}

}  // namespace

Tensor adaptive_avg_pool2d_forward_cpu(const Tensor& x, const ImageSize& size) {
  const Shape shape{x.dim(0), x.dim(1), size.rows, size.columns};
  if (windows_are_equal(x.shape(), shape)) {
    return onednn::pool_forward(equal_windows(x.shape(), shape), x, shape).output;
  }
  const Tensor image = plain_contiguous(cast(x, DType::kF32));
  const Tensor result = Tensor::empty(shape);
  const auto* pixels = image.data<float>();
  auto* averages = result.data<float>();
  for_each_window(x.shape(), shape, [&](const Window& window) {
    averages[window.position] = average(pixels + window.first_pixel, x.dim(3), window);
  });
  return cast(result, x.dtype());
}

Tensor adaptive_avg_pool2d_backward_cpu(const Tensor& grad, const InputFormat& input) {
  if (windows_are_equal(input.shape, grad.shape())) {
    const Tensor x_grad = input.empty();
    onednn::pool_backward(equal_windows(input.shape, grad.shape()), grad, Tensor(), x_grad);
    return x_grad;
  }
  const Tensor seed = plain_contiguous(cast(grad, DType::kF32));
  const Tensor x_grad = Tensor::zeros(input.shape);
  const auto* grads = seed.data<float>();
  auto* pixels = x_grad.data<float>();
  for_each_window(input.shape, grad.shape(), [&](const Window& window) {
    add_share(grads[window.position], pixels + window.first_pixel, input.shape[3], window);
  });
  return cast(x_grad, input.dtype);
}

}  // namespace lockstep::ops
