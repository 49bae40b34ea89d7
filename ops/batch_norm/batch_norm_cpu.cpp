#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "ops/batch_norm/batch_norm_kernels.h"
#include "ops/cpu/channels.h"
#include "ops/cpu/float_type.h"
#include "ops/cpu/onednn.h"
#include "ops/operands.h"
#include "runtime/threads.h"

namespace lockstep::ops {
namespace {

using cpu::ChannelRun;
using cpu::Channels;
using cpu::Floats;

constexpr int64_t kGrain = 1 << 14;  // elements that one thread handles at least

/// A number for each lane of a run.
using Lanes = std::array<float, Floats::kCount>;

/// Of Floats that are arranged as elements of T.
template <class T>
Lanes lanes_of(Floats values) {
  Lanes lanes;
  store(lanes.data(), cpu::in_memory_order<T>(values));
  return lanes;
}

/// Where a group is one channel, its sum takes the place of all lanes.
template <class T>
Lanes folded(const Channels& channels, Floats sums) {
  Lanes lanes = lanes_of<T>(sums);
  if (channels.one_channel()) {
    float sum = 0;
    for (const float lane : lanes) sum += lane;
    lanes.fill(sum);
  }
  return lanes;
}

template <class Body>
void for_each_run(const Channels& channels, const Tensor& x, Body body) {
  const int64_t runs = channels.run_count();
  const int64_t grain = std::max<int64_t>(1, kGrain * runs / std::max<int64_t>(1, stored_count(x)));
  parallel_for(runs, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(i, channels.run(i));
  });
}

/// The last runs first: those that the pass before has left in the caches.
template <class Body>
void for_each_run_backwards(const Channels& channels, const Tensor& x, Body body) {
  const int64_t last = channels.run_count() - 1;
  for_each_run(channels, x, [&](int64_t i, const ChannelRun&) { body(channels.run(last - i)); });
}

/// Adds up what each run has found, in the order of the runs: add(channel, run, its lane).
template <class Add>
void combine(const Channels& channels, Add add) {
  for (int64_t i = 0; i < channels.run_count(); ++i) {
    const ChannelRun run = channels.run(i);
    const int64_t first = channels.first_channel(run.group);
    for (int lane = 0; lane < channels.channels_in(run.group); ++lane) add(first + lane, i, run, lane);
  }
}

/// Mean and sum of squared deviations from it, of one run.
struct Moments {
  Lanes mean;
  Lanes squares;
};

template <class T>
Moments moments_of(const Channels& channels, const ChannelRun& run, const T* x) {
  Floats sum;
  run.for_each([&](int64_t at, int lanes) { sum = sum + cpu::load(x + at, lanes); });
  const float share = 1.0F / static_cast<float>(channels.positions(run));
  const Lanes total = folded<T>(channels, sum);
  const Floats mean = cpu::arranged<T>(cpu::load(total.data())) * Floats(share);
  Floats squares;
  run.for_each([&](int64_t at, int lanes) {
    const Floats deviation = cpu::first<T>(cpu::load(x + at, lanes) - mean, lanes);
    squares = squares + deviation * deviation;
  });
  return {lanes_of<T>(mean), folded<T>(channels, squares)};
}

/// Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances",
/// 1979, equation 2.1: in one pass over memory, and without the cancellation of a difference of squares.
template <class T>
void compute_statistics(const Channels& channels, const BatchNormInputs& inputs) {
  const auto* x = static_cast<const T*>(inputs.x.raw());
  std::vector<Moments> moments(static_cast<size_t>(channels.run_count()));
  for_each_run(channels, inputs.x, [&](int64_t i, const ChannelRun& run) {
    moments[static_cast<size_t>(i)] = moments_of(channels, run, x);
  });
  struct Total {
    double count = 0;
    double mean = 0;
    double squares = 0;
  };
  std::vector<Total> totals(static_cast<size_t>(inputs.mean.count()));
  combine(channels, [&](int64_t channel, int64_t i, const ChannelRun& run, int lane) {
    Total& total = totals[static_cast<size_t>(channel)];
    const Moments& part = moments[static_cast<size_t>(i)];
    const auto index = static_cast<size_t>(lane);
    const auto added = static_cast<double>(channels.positions(run));
    const double count = total.count + added;
    const double difference = part.mean[index] - total.mean;
    total.mean += difference * (added / count);
    total.squares += part.squares[index] + difference * difference * (total.count * added / count);
    total.count = count;
  });
  for (size_t c = 0; c < totals.size(); ++c) {
    inputs.mean.data<float>()[c] = static_cast<float>(totals[c].mean);
    inputs.variance.data<float>()[c] = static_cast<float>(totals[c].squares / totals[c].count);
  }
}

/// What normalising takes per channel: scale = gamma / deviation.
struct Normalization {
  Normalization(const BatchNormInputs& inputs, double epsilon)
      : mean(inputs.mean.data<float>()), beta(inputs.beta.data<float>()) {
    for (int64_t c = 0; c < inputs.mean.count(); ++c) {
      const double inverse = 1 / std::sqrt(static_cast<double>(inputs.variance.data<float>()[c]) + epsilon);
      inverse_deviation.push_back(inverse);
      scale.push_back(static_cast<float>(inputs.gamma.data<float>()[c] * inverse));
    }
  }
  const float* mean;
  const float* beta;
  std::vector<double> inverse_deviation;
  std::vector<float> scale;
};

/// One group's numbers, and the formula that both passes share, so that they agree to the last bit.
template <class T>
struct GroupNormalization {
  GroupNormalization(const Channels& channels, const Normalization& all, int64_t group)
      : mean(cpu::arranged<T>(channels.of_group(all.mean, group))),
        scale(cpu::arranged<T>(channels.of_group(all.scale.data(), group))),
        beta(cpu::arranged<T>(channels.of_group(all.beta, group))) {}
  Floats operator()(Floats x) const { return (x - mean) * scale + beta; }
  Floats mean, scale, beta;
};

template <class T>
void normalize(const Channels& channels, const BatchNormInputs& inputs, const Tensor& residual,
               const BatchNormOptions& options, const Tensor& output) {
  const auto* x = static_cast<const T*>(inputs.x.raw());
  const auto* added = residual.defined() ? static_cast<const T*>(residual.raw()) : nullptr;
  auto* y = static_cast<T*>(output.raw());
  const Normalization all(inputs, options.epsilon);
  for_each_run_backwards(channels, inputs.x, [&](const ChannelRun& run) {
    const GroupNormalization<T> normalized(channels, all, run.group);
    const auto pass = [&](auto finish) {
      run.for_each([&](int64_t at, int lanes) {
        cpu::store(y + at, finish(normalized(cpu::load(x + at, lanes)), at, lanes), lanes);
      });
    };
    if (added != nullptr && options.fuse_relu) {
      pass([=](Floats v, int64_t at, int lanes) { return positive_part(v + cpu::load(added + at, lanes)); });
    } else if (added != nullptr) {
      pass([=](Floats v, int64_t at, int lanes) { return v + cpu::load(added + at, lanes); });
    } else if (options.fuse_relu) {
      pass([](Floats v, int64_t, int) { return positive_part(v); });
    } else {
      pass([](Floats v, int64_t, int) { return v; });
    }
  });
}

/// Of the gradient g behind a ReLU, per run: the sums of g and of g (x - mean).
struct GradientSums {
  Lanes gradient;
  Lanes product;
};

/// `masked(x, at, lanes)` gives g.
template <class T, class Masked>
GradientSums sums_of(const Channels& channels, const ChannelRun& run, const T* x, Floats mean,
                     Masked masked) {
  Floats gradient;
  Floats product;
  run.for_each([&](int64_t at, int lanes) {
    const Floats value = cpu::load(x + at, lanes);
    const Floats g = masked(value, at, lanes);
    gradient = gradient + g;
    product = product + g * (value - mean);
  });
  return {folded<T>(channels, gradient), folded<T>(channels, product)};
}

/// The sums over the batch, per channel.
struct ChannelSums {
  ChannelSums(const Channels& channels, const std::vector<GradientSums>& runs, int64_t count)
      : gradient(static_cast<size_t>(count)), product(static_cast<size_t>(count)) {
    combine(channels, [&](int64_t channel, int64_t i, const ChannelRun&, int lane) {
      const GradientSums& part = runs[static_cast<size_t>(i)];
      gradient[static_cast<size_t>(channel)] += part.gradient[static_cast<size_t>(lane)];
      product[static_cast<size_t>(channel)] += part.product[static_cast<size_t>(lane)];
    });
  }
  std::vector<double> gradient;
  std::vector<double> product;
};

/// Ioffe and Szegedy, section 3: dx = scale (g - sum(g) / m - (x - mean) sum(g (x - mean)) / (m
/// deviation^2)); with statistics that were given, dx = scale g.
struct InputGradient {
  InputGradient(const Normalization& all, const ChannelSums& sums, double positions,
                BatchStatistics statistics)
      : offset(sums.gradient.size()), slope(sums.gradient.size()) {
    if (statistics == BatchStatistics::kGiven) return;
    for (size_t c = 0; c < offset.size(); ++c) {
      const double inverse = all.inverse_deviation[c];
      offset[c] = static_cast<float>(sums.gradient[c] / positions);
      slope[c] = static_cast<float>(sums.product[c] * inverse * inverse / positions);
    }
  }
  std::vector<float> offset;
  std::vector<float> slope;
};

template <class T>
class Backward {
 public:
  Backward(const BatchNormInputs& inputs, const Tensor& output, const Tensor& grad, const BatchNormMode& mode,
           const BatchNormGradients& result)
      : channels_(inputs.x),
        inputs_(inputs),
        mode_(mode),
        result_(result),
        all_(inputs, mode.options.epsilon),
        x_(static_cast<const T*>(inputs.x.raw())),
        grad_(static_cast<const T*>(grad.raw())),
        output_(result.masked.defined() ? static_cast<const T*>(output.raw()) : nullptr) {}

  void run() {
    const ChannelSums sums(channels_, sum_gradients(), inputs_.mean.count());
    for (size_t c = 0; c < sums.gradient.size(); ++c) {
      result_.beta.data<float>()[c] = static_cast<float>(sums.gradient[c]);
      result_.gamma.data<float>()[c] = static_cast<float>(sums.product[c] * all_.inverse_deviation[c]);
    }
    const double positions = static_cast<double>(inputs_.x.count() / inputs_.mean.count());
    compute_input_gradient(InputGradient(all_, sums, positions, mode_.statistics));
  }

 private:
  /// The first pass over memory; it also leaves the masked gradient where it is asked for.
  std::vector<GradientSums> sum_gradients() {
    auto* kept = result_.masked.defined() ? static_cast<T*>(result_.masked.raw()) : nullptr;
    std::vector<GradientSums> sums(static_cast<size_t>(channels_.run_count()));
    for_each_run(channels_, inputs_.x, [&](int64_t i, const ChannelRun& run) {
      const GroupNormalization<T> normalized(channels_, all_, run.group);
      GradientSums& sum = sums[static_cast<size_t>(i)];
      if (kept != nullptr) {
        sum = sums_of(channels_, run, x_, normalized.mean, [&](Floats, int64_t at, int lanes) {
          const Floats g = where_positive(cpu::load(output_ + at, lanes), cpu::load(grad_ + at, lanes));
          cpu::store(kept + at, g, lanes);
          return g;
        });
      } else {
        with_mask(normalized, grad_,
                  [&](auto masked) { sum = sums_of(channels_, run, x_, normalized.mean, masked); });
      }
    });
    return sums;
  }

  void compute_input_gradient(const InputGradient& formula) {
    const auto* grad = result_.masked.defined() ? static_cast<const T*>(result_.masked.raw()) : grad_;
    auto* result = static_cast<T*>(result_.x.raw());
    for_each_run_backwards(channels_, inputs_.x, [&](const ChannelRun& run) {
      const GroupNormalization<T> normalized(channels_, all_, run.group);
      const Floats offset = cpu::arranged<T>(channels_.of_group(formula.offset.data(), run.group));
      const Floats slope = cpu::arranged<T>(channels_.of_group(formula.slope.data(), run.group));
      with_mask(normalized, grad, [&](auto masked) {
        run.for_each([&](int64_t at, int lanes) {
          const Floats value = cpu::load(x_ + at, lanes);
          const Floats g = masked(value, at, lanes);
          cpu::store(result + at, normalized.scale * (g - offset - (value - normalized.mean) * slope), lanes);
        });
      });
    });
  }

  /// Calls body(masked), where masked(x, at, lanes) is the gradient as it comes out of a ReLU that follows
  /// the normalisation at once, if one does.
  template <class Body>
  void with_mask(const GroupNormalization<T>& normalized, const T* grad, Body body) const {
    if (mode_.options.fuse_relu && !result_.masked.defined()) {
      body([&, grad](Floats x, int64_t at, int lanes) {
        return where_positive(normalized(x), cpu::load(grad + at, lanes));
      });
    } else {
      body([grad](Floats, int64_t at, int lanes) { return cpu::load(grad + at, lanes); });
    }
  }

  Channels channels_;
  const BatchNormInputs& inputs_;
  const BatchNormMode& mode_;
  const BatchNormGradients& result_;
  Normalization all_;
  const T* x_;
  const T* grad_;
  const T* output_;
};

}  // namespace

Tensor batch_norm_operand_cpu(const Tensor& x) {
  const Tensor operand = dense(x);
  return cpu::has_channels(operand) ? operand : plain_contiguous(operand);
}

Tensor like_batch_norm_operand_cpu(const Tensor& tensor, const Tensor& x) {
  return onednn::to_layout(tensor, x.layout());
}

void batch_norm_forward_cpu(const BatchNormInputs& inputs, const Tensor& residual, const BatchNormMode& mode,
                            const Tensor& output) {
  const Channels channels(inputs.x);
  cpu::visit_float("batch_norm", inputs.x.dtype(), [&]<class T>(T) {
    if (mode.statistics == BatchStatistics::kComputed) compute_statistics<T>(channels, inputs);
    normalize<T>(channels, inputs, residual, mode.options, output);
  });
}

void batch_norm_backward_cpu(const BatchNormInputs& inputs, const Tensor& output, const Tensor& grad,
                             const BatchNormMode& mode, const BatchNormGradients& result) {
  cpu::visit_float("batch_norm", inputs.x.dtype(),
                   [&]<class T>(T) { Backward<T>(inputs, output, grad, mode, result).run(); });
}

}  // namespace lockstep::ops
