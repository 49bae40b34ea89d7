#include "train/evaluation.h"

#include <gtest/gtest.h>

#include <cstring>
#include <mutex>

#include "tests/support/run_ranks.h"

namespace lockstep::train {
namespace {

/// Samples whose only pixel is their class.
class TwoRight final : public data::DataSource {
 public:
  explicit TwoRight(int64_t size) : size_(size) {
    spec_.name = "two_right";
    spec_.shape = {1, 1, 1};
    spec_.dtype = DType::kF32;
    spec_.classes = 3;
  }
  int64_t size() const override { return size_; }
  const data::SampleSpec& spec() const override { return spec_; }
  void read(const data::SampleRequest& request) const override {
    const float pixel = request.index < 2 ? 1 : 0;
    std::memcpy(request.input, &pixel, sizeof pixel);
    request.set_label(2);
  }

 private:
  int64_t size_;
  data::SampleSpec spec_;
};

/// Answers class 2 where the pixel is 1, class 0 elsewhere.
class PixelModel final : public models::Module {
 public:
  Tensor forward(const Tensor& input, const models::ForwardContext& context) override {
    EXPECT_FALSE(context.training);
    const int64_t count = input.dim(0);
    std::vector<float> logits(static_cast<size_t>(3 * count), 0);
    for (int64_t i = 0; i < count; ++i) {
      const bool right = input.data<float>()[i] == 1;
      logits[static_cast<size_t>(3 * i + (right ? 2 : 0))] = 1;
    }
    return Tensor::from(logits, {count, 3});
  }
};

const Objective kClassifier(losses().front(), {}, {metrics().front()});

Measured evaluate_on(int ranks, int64_t samples) {
  Measured result;
  std::mutex mutex;
  test::run_ranks(ranks, [&](comm::Communicator& communicator) {
    PixelModel model;
    const TwoRight source(samples);
    EvaluationOptions options;
    options.samples = samples;
    options.batch = 3;
    const Measured mine = evaluate(model, source, kClassifier, communicator, options);
    const std::lock_guard lock(mutex);
    if (result.weight == 0) result = mine;
    EXPECT_EQ(mine.loss, result.loss) << "ranks disagree";
  });
  return result;
}

TEST(Evaluation, CountsEverySampleOnceOnAnyNumberOfRanks) {
  for (const int64_t samples : {3, 10, 21}) {
    const Measured alone = evaluate_on(1, samples);
    EXPECT_EQ(alone.weight, samples);
    EXPECT_DOUBLE_EQ(alone.metrics[0].second, 2.0 / static_cast<double>(samples));
    for (const int ranks : {2, 3, 4}) {
      const Measured result = evaluate_on(ranks, samples);
      EXPECT_EQ(result.weight, samples) << ranks;
      EXPECT_EQ(result.metrics, alone.metrics) << ranks;
      EXPECT_EQ(result.loss, alone.loss) << ranks;
    }
  }
}

}  // namespace
}  // namespace lockstep::train
