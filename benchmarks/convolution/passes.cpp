#include "benchmarks/convolution/passes.h"

#include <algorithm>
#include <chrono>
#include <unordered_map>
#include <vector>

namespace lockstep::benchmarks {
namespace {

using Clock = std::chrono::steady_clock;
using dnnl::memory;

const dnnl::engine& engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

/// What the descriptions of the passes have in common.
struct Description {
  Description(const Problem& p, Form form, memory::data_type type)
      : algorithm(form == Form::kWinograd ? dnnl::algorithm::convolution_winograd
                                          : dnnl::algorithm::convolution_direct),
        input({p.batch, p.in, p.image, p.image}, type, tag(form)),
        weight({p.out, p.in, p.kernel, p.kernel}, type, memory::format_tag::any),
        weight_grad({p.out, p.in, p.kernel, p.kernel}, memory::data_type::f32, memory::format_tag::any),
        output({p.batch, p.out, p.output_image(), p.output_image()}, type, tag(form)),
        strides(2, p.stride),
        padding(2, p.kernel / 2) {}

  static memory::format_tag tag(Form form) {
    return form == Form::kDirectChannelsLast ? memory::format_tag::nhwc : memory::format_tag::any;
  }

  dnnl::convolution_forward::primitive_desc forward() const {
    return {{dnnl::prop_kind::forward_training, algorithm, input, weight, output, strides, padding, padding},
            engine()};
  }
  dnnl::convolution_backward_data::primitive_desc backward_data() const {
    return {{algorithm, input, weight, output, strides, padding, padding}, engine(), forward()};
  }
  dnnl::convolution_backward_weights::primitive_desc backward_weights() const {
    return {{algorithm, input, weight_grad, output, strides, padding, padding}, engine(), forward()};
  }

  dnnl::algorithm algorithm;
  memory::desc input, weight, weight_grad, output;
  memory::dims strides, padding;
};

struct Runnable {
  dnnl::primitive primitive;
  std::unordered_map<int, memory> arguments;
  std::string implementation;
};

Runnable prepare(const dnnl::primitive_desc_base& description, std::initializer_list<int> arguments) {
  Runnable result{dnnl::primitive(description.get()), {}, description.impl_info_str()};
  for (const int argument : arguments) {
    memory block(description.query_md(dnnl::query::exec_arg_md, argument), engine());
    auto* bytes = static_cast<char*>(block.get_data_handle());
    std::fill_n(bytes, block.get_desc().get_size(), '\0');
    result.arguments.emplace(argument, std::move(block));
  }
  return result;
}

Runnable prepare(const Description& description, Pass pass) {
  switch (pass) {
    case Pass::kForward:
      return prepare(description.forward(), {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST});
    case Pass::kBackwardData:
      return prepare(description.backward_data(), {DNNL_ARG_DIFF_DST, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_SRC});
    case Pass::kBackwardWeights:
      break;
  }
  return prepare(description.backward_weights(), {DNNL_ARG_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_WEIGHTS});
}

memory::desc matrix(int64_t rows, int64_t columns, memory::data_type type) {
  return {{rows, columns}, type, memory::format_tag::ab};
}

/// Weights are [out, in].
std::optional<Runnable> prepare_matmul(const Problem& p, Pass pass, memory::data_type type) {
  if (p.kernel != 1 || p.stride != 1) return {};
  const int64_t positions = p.batch * p.image * p.image;
  const memory::desc input = matrix(positions, p.in, type);
  const memory::desc output = matrix(positions, p.out, type);
  const memory::desc weight({p.out, p.in}, type, memory::format_tag::any);
  const auto product = [](const memory::desc& a, const memory::desc& b, const memory::desc& c) {
    return prepare(dnnl::matmul::primitive_desc(dnnl::matmul::desc(a, b, c), engine()),
                   {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST});
  };
  switch (pass) {
    case Pass::kForward:
      return product(input, memory::desc({p.in, p.out}, type, memory::format_tag::any), output);
    case Pass::kBackwardData:
      return product(output, weight, input);
    case Pass::kBackwardWeights:
      break;
  }
  return product(output.permute_axes({1, 0}), input, matrix(p.out, p.in, memory::data_type::f32));
}

/// Drives everything else out of the caches.
void cool_caches() {
  static std::vector<char> memory(96 << 20);
  for (size_t i = 0; i < memory.size(); i += 64) ++memory[i];
}

}  // namespace

std::optional<Timing> time_pass(const Problem& problem, Pass pass, Form form, memory::data_type type,
                                double seconds) {
  std::optional<Runnable> runnable;
  try {
    runnable = form == Form::kMatmul ? prepare_matmul(problem, pass, type)
                                     : prepare(Description(problem, form, type), pass);
  } catch (const dnnl::error&) {
    return {};
  }
  if (!runnable) return {};
  dnnl::stream stream(engine());
  std::vector<double> times;
  double total = 0;
  while (times.size() < 6 || total < seconds) {
    cool_caches();
    const auto start = Clock::now();
    runnable->primitive.execute(stream, runnable->arguments);
    stream.wait();
    times.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    total += times.back();
  }
  times.erase(times.begin());  // generates code
  std::ranges::sort(times);
  return Timing{times[times.size() / 2], runnable->implementation};
}

}  // namespace lockstep::benchmarks
