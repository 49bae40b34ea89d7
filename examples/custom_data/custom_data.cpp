// Data, a loss, a metric and an optimizer of your own, beside lockstep's. The task: from 16 readings of a
// sensor, tell amplitude and frequency of the wave that they show.
#include <lockstep/launcher/train_program.h>
#include <lockstep/ops/elementwise/elementwise.h>
#include <lockstep/ops/reduce/reduce.h>
#include <lockstep/runtime/autograd.h>
#include <lockstep/runtime/rng.h>

#include <cmath>

namespace ls = lockstep;

// Sample i is a pure function of the seed and i, so every rank sees the same data. Reading a file works the
// same way; read() may be called from several threads.
class Waves final : public ls::data::DataSource {
 public:
  explicit Waves(const ls::data::SourceOptions& options)
      : size_(options.split == ls::data::Split::kTrain ? 4096 : 512),
        first_(options.split == ls::data::Split::kTrain ? 0 : 4096),
        seed_(options.seed) {
    spec_.name = "waves";
    spec_.shape = {16};  // not an image: goes to the model as it is
    spec_.dtype = ls::DType::kF32;
    spec_.target_shape = {2};
    spec_.target_dtype = ls::DType::kF32;
    spec_.classes = 2;  // how many outputs the model has
  }
  int64_t size() const override { return size_; }
  const ls::data::SampleSpec& spec() const override { return spec_; }
  void read(const ls::data::SampleRequest& request) const override {
    const auto sample = static_cast<uint64_t>(first_ + request.index);
    const ls::RandomStream random(seed_, ls::Purpose::kSynthetic, 0, sample);
    const float amplitude = random.uniform(0);
    const float frequency = random.uniform(1);
    auto* readings = reinterpret_cast<float*>(request.input);
    for (int t = 0; t < 16; ++t) readings[t] = amplitude * std::sin(frequency * static_cast<float>(t));
    auto* target = reinterpret_cast<float*>(request.target);
    target[0] = amplitude;
    target[1] = frequency;
  }

 private:
  int64_t size_;
  int64_t first_;
  uint64_t seed_;
  ls::data::SampleSpec spec_;
};

std::unique_ptr<ls::data::DataSource> open_waves(const ls::data::SourceOptions& options) {
  return std::make_unique<Waves>(options);
}

// Log-cosh: like the square near zero, like the absolute value far away. A loss is a sum with a weight;
// lockstep divides once, by the weight of all ranks.
ls::ops::LossResult log_cosh(const ls::Tensor& output, const ls::Tensor& target,
                             const ls::train::LossOptions&) {
  const ls::Tensor error = ls::ops::sub(output, target);
  const ls::Tensor cosh =
      ls::ops::scale(ls::ops::add(ls::ops::exp(error), ls::ops::exp(ls::ops::neg(error))), 0.5);
  const ls::Tensor sum = ls::ops::sum(ls::ops::log(cosh));
  return {sum, sum.item(), static_cast<double>(output.count())};
}

// How many answers are right to a twentieth.
double close_enough(const ls::Tensor& output, const ls::Tensor& target) {
  const ls::NoGrad no_grad;
  const ls::Tensor error = ls::ops::abs(ls::ops::sub(output, target));
  double count = 0;
  for (const float value : error.to_vector<float>()) count += value < 0.05F ? 1 : 0;
  return count;
}

// Sign descent: every weight moves by lr, against its gradient.
class SignDescent final : public ls::optim::Optimizer {
 public:
  explicit SignDescent(std::vector<ls::optim::OptimizedParameter> parameters)
      : Optimizer(std::move(parameters), {}) {}

 private:
  void update(const ls::optim::StepOptions& options) override {
    for_each_piece([&](const Piece& piece) {
      float* value = piece.parameter.value.data<float>() + piece.begin;
      const float* gradient = piece.parameter.gradient.data<float>() + piece.begin;
      const auto lr = static_cast<float>(options.lr * piece.parameter.lr_factor);
      for (int64_t i = 0; i < piece.count; ++i) {
        value[i] -= gradient[i] > 0 ? lr : gradient[i] < 0 ? -lr : 0;
      }
    });
  }
};

std::unique_ptr<ls::optim::Optimizer> make_sign_descent(std::vector<ls::optim::OptimizedParameter> parameters,
                                                        const ls::optim::OptimizerOptions&) {
  return std::make_unique<SignDescent>(std::move(parameters));
}

int main(int argc, char** argv) {
  ls::train::Extensions own;
  own.sources.push_back({"waves", open_waves});
  own.losses.push_back({"log_cosh", log_cosh, "close_enough"});
  own.metrics.push_back({"close_enough", close_enough});
  own.optimizers.push_back({"sign_descent", make_sign_descent});
  return ls::launcher::run_train(argc, argv, own);
}
