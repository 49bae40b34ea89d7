#include "benchmarks/matmul/products.h"

#include <dnnl.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

namespace lockstep::benchmarks {
namespace {

using Clock = std::chrono::steady_clock;
using dnnl::memory;

const dnnl::engine& engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

/// [rows, columns], stored along the other dimension if `transposed`, with `padding` elements behind each
/// row.
memory::desc matrix(int64_t rows, int64_t columns, bool transposed, int64_t padding = 0) {
  const memory::dims strides =
      transposed ? memory::dims{1, rows + padding} : memory::dims{columns + padding, 1};
  return {{rows, columns}, memory::data_type::f32, strides};
}

memory filled(const memory::desc& desc) {
  memory block(desc, engine());
  auto* values = static_cast<float*>(block.get_data_handle());
  const size_t count = desc.get_size() / sizeof(float);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 17) - 8;
  return block;
}

/// Drives everything else out of the caches.
void cool_caches() {
  static std::vector<char> memory(96 << 20);
  for (size_t i = 0; i < memory.size(); i += 64) ++memory[i];
}

double median_seconds(const std::function<void()>& run, double seconds) {
  run();  // generates code
  std::vector<double> times;
  double total = 0;
  while (times.size() < 5 || total < seconds) {
    cool_caches();
    const auto start = Clock::now();
    run();
    times.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    total += times.back();
  }
  std::ranges::sort(times);
  return times[times.size() / 2];
}

double time_sgemm(const Product& p, const memory& a, const memory& b, const memory& c, double seconds) {
  const auto data = [](const memory& block) { return static_cast<float*>(block.get_data_handle()); };
  return median_seconds(
      [&] {
        dnnl::sgemm(p.transpose_a ? 'T' : 'N', p.transpose_b ? 'T' : 'N', p.m, p.n, p.k, 1, data(a),
                    p.transpose_a ? p.m : p.k, data(b), p.transpose_b ? p.k : p.n, 0, data(c), p.n);
      },
      seconds);
}

}  // namespace

double time_product(const Product& p, Form form, double seconds) {
  constexpr int64_t kCacheLine = 16;  // floats
  const memory a = filled(matrix(p.m, p.k, p.transpose_a));
  memory b = filled(matrix(p.k, p.n, p.transpose_b, form == Form::kMatmulPadded ? kCacheLine : 0));
  const memory c(matrix(p.m, p.n, false), engine());
  if (form == Form::kSgemm) return time_sgemm(p, a, b, c, seconds);

  const bool packed = form == Form::kMatmulPacked || form == Form::kMatmulPacking;
  const memory::desc any({p.k, p.n}, memory::data_type::f32, memory::format_tag::any);
  const dnnl::matmul::primitive_desc description(
      dnnl::matmul::desc(a.get_desc(), packed ? any : b.get_desc(), c.get_desc()), engine());
  dnnl::matmul matmul(description);
  dnnl::stream stream(engine());
  memory weights = packed ? memory(description.weights_desc(), engine()) : b;
  dnnl::reorder pack(b, weights);
  if (packed) pack.execute(stream, b, weights);
  return median_seconds(
      [&] {
        if (form == Form::kMatmulPacking) pack.execute(stream, b, weights);
        matmul.execute(stream, {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, c}});
        stream.wait();
      },
      seconds);
}

}  // namespace lockstep::benchmarks
