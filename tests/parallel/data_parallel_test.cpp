#include "parallel/data_parallel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <mutex>
#include <optional>

#include "comm/codecs/table.h"
#include "ops/elementwise/elementwise.h"
#include "ops/reduce/reduce.h"
#include "runtime/autograd.h"
#include "runtime/error.h"
#include "runtime/profile.h"
#include "runtime/rng.h"
#include "tests/support/expect_error.h"
#include "tests/support/run_ranks.h"

namespace lockstep::parallel {
namespace {

constexpr int64_t kWidth = 37;  // odd, so that chunks of any number of ranks are uneven

/// y = sum(x * scale + shift), loss = sum over samples of (y - 1)^2 / 2, and a parameter that nothing uses.
struct Model {
  Parameter scale;
  Parameter shift;
  Parameter unused{"unused", Tensor::full({3}, 5), {}};
  RunningStatistic input_mean;
  explicit Model(int64_t width = kWidth)
      : scale{"scale", Tensor::empty({width}), Initializer::uniform(1)},
        shift{"shift", Tensor::empty({width}), Initializer::uniform(1)} {
    input_mean.name = "input_mean";
    input_mean.value = Tensor::zeros({1});
    initialize(scale, 1, 0);
    initialize(shift, 1, 1);
  }
  std::vector<Parameter*> parameters() { return {&scale, &shift, &unused}; }
};

Tensor samples(int64_t first, int64_t count, int64_t width = kWidth) {
  std::vector<float> values(static_cast<size_t>(count * width));
  for (size_t i = 0; i < values.size(); ++i) {
    const RandomStream stream(3, Purpose::kTest, 0, static_cast<uint64_t>(first) + i / width);
    values[i] = static_cast<float>(stream.normal(i % width));
  }
  return Tensor::from(values, {count, width});
}

struct Result {
  std::vector<float> scale, shift, unused, running;
  std::vector<double> sums;
  bool operator==(const Result&) const = default;
};

struct Setting {
  int64_t samples = 100;
  int64_t micro_batch = 8;
  int virtual_ranks = 16;
  int64_t bucket_bytes = 1 << 20;
  int64_t width = kWidth;
  comm::Codec codec = comm::Codec::kNone;
};

Result run(comm::Communicator& communicator, const Setting& setting) {
  Model model(setting.width);
  DistributedDataParallel ddp(
      model.parameters(), {&model.input_mean}, communicator,
      {.virtual_ranks = setting.virtual_ranks,
       .buckets = {.bucket_bytes = setting.bucket_bytes, .first_bucket_bytes = setting.bucket_bytes},
       .codec = setting.codec,
       .sums = 2,
       .rank_values = 1});
  const StepPlan plan = plan_step(setting.samples, setting.micro_batch, setting.virtual_ranks,
                                  communicator.size(), communicator.rank());
  const std::vector<double> flag{communicator.rank() == communicator.size() - 1 ? 1.0 : 0.0};
  Result result;
  for (int repeat = 0; repeat < 2;
       ++repeat) {  // the second step finds the first one's gradients in the buffers
    result.sums = ddp.step(plan, flag, [&](const MicroBatch& micro_batch, std::span<double> sums) {
      const Tensor x = samples(micro_batch.first, micro_batch.count, setting.width);
      const Tensor y = ops::sum(ops::add(ops::mul(x, model.scale.value), model.shift.value), {.dims = {1}});
      const Tensor loss = ops::scale(ops::sum(ops::square(ops::add_scalar(y, -1))), 0.5);
      model.input_mean.observe(ops::mean(x).view({1}));
      sums[0] += loss.item();
      sums[1] += static_cast<double>(micro_batch.count);
      return loss;
    });
    ddp.commit_statistics();
  }
  result.scale = ddp.gradient(0).to_vector<float>();
  result.shift = ddp.gradient(1).to_vector<float>();
  result.unused = ddp.gradient(2).to_vector<float>();
  result.running = model.input_mean.value.to_vector<float>();
  return result;
}

Result run_on(int ranks, const Setting& setting) {
  Result result;
  std::mutex mutex;
  test::run_ranks(ranks, [&](comm::Communicator& communicator) {
    const Result mine = run(communicator, setting);
    const std::lock_guard lock(mutex);
    if (result.scale.empty()) result = mine;
    EXPECT_EQ(mine, result) << "ranks disagree";
  });
  return result;
}

TEST(DataParallel, TheSameBitsOnAnyNumberOfRanks) {
  // Uneven last micro-batch, one sample, fewer micro-batches than ranks, accumulation within slots, several
  // buckets.
  const Setting settings[] = {{},
                              {.samples = 1},
                              {.samples = 20},
                              {.samples = 100, .micro_batch = 3},
                              {.samples = 33, .micro_batch = 8, .virtual_ranks = 8, .bucket_bytes = 64}};
  for (const Setting& setting : settings) {
    const Result alone = run_on(1, setting);
    EXPECT_EQ(alone.sums[1], setting.samples);
    EXPECT_EQ(alone.sums[2], 1) << "one rank raised its flag";
    for (const int ranks : {2, 3, 4, 5, 7, 8}) {
      EXPECT_EQ(run_on(ranks, setting), alone) << setting.samples << " samples on " << ranks << " ranks";
    }
  }
}

TEST(DataParallel, BucketsStartDuringBackwardOrAfterIt) {
  for (const bool overlap : {true, false}) {
    profile::Recorder recorder;
    test::run_ranks(2, [&](comm::Communicator& communicator) {
      const profile::Scope scope(communicator.rank() == 0 ? &recorder : nullptr, "rank 0");
      if (communicator.rank() == 0) recorder.start();
      Parameter inner{"inner", Tensor::full({16}, 2), {}};
      Parameter outer{"outer", Tensor::full({16}, 3), {}};
      DistributedDataParallel ddp({&inner, &outer}, {}, communicator,
                                  {.virtual_ranks = 2,
                                   .buckets = {.bucket_bytes = 64, .first_bucket_bytes = 64},
                                   .overlap = overlap});
      ASSERT_EQ(ddp.plan().buckets.size(), 2U);
      const StepPlan plan = plan_step(2, 1, 2, communicator.size(), communicator.rank());
      ddp.step(plan, {}, [&](const MicroBatch&, std::span<double>) {
        return ops::sum(ops::mul(outer.value, ops::square(inner.value)));
      });
      EXPECT_EQ(ddp.gradient(0).to_vector<float>(), std::vector<float>(16, 2 * 2 * 2 * 3));
      EXPECT_EQ(ddp.gradient(1).to_vector<float>(), std::vector<float>(16, 2 * 2 * 2));
    });
    profile::Clock::time_point backward;
    for (const profile::Event& event : recorder.lane("rank 0").events()) {
      if (event.name == "backward") backward = event.end;
    }
    const std::vector<profile::Event> buckets = recorder.lane("communication").events();
    ASSERT_EQ(buckets.size(), 2U);
    EXPECT_EQ(buckets.front().start < backward, overlap);
  }
}

TEST(DataParallel, WithACodecTheSameBitsOnAnyNumberOfRanks) {
  // Buckets of one and of both parameters, several blocks and no whole number of them; slots without samples.
  const Setting settings[] = {{.width = 1500},
                              {.samples = 33, .micro_batch = 3, .bucket_bytes = 1024, .width = 2500},
                              {.samples = 20, .virtual_ranks = 8},
                              {.samples = 1, .width = 1500}};
  for (Setting setting : settings) {
    const Result exact = run_on(1, setting);
    Result others[2];
    for (const comm::Codec codec : {comm::Codec::kFp16, comm::Codec::kBf16}) {
      setting.codec = codec;
      const Result alone = run_on(1, setting);
      others[codec == comm::Codec::kFp16 ? 0 : 1] = alone;
      EXPECT_NE(alone.scale, exact.scale) << "rounded on one rank, too";
      EXPECT_EQ(alone.sums, exact.sums) << "losses and counts are not rounded";
      EXPECT_EQ(alone.running, exact.running);
      for (const int ranks : {2, 3, 4, 8}) {
        EXPECT_EQ(run_on(ranks, setting), alone)
            << setting.samples << " samples on " << ranks << " ranks, codec " << comm::name_of(codec);
      }
    }
    EXPECT_NE(others[0].scale, others[1].scale);
  }
}

TEST(DataParallel, EqualsOneBackwardThroughTheWholeBatch) {
  Model model;
  const Tensor x = samples(0, 100);
  model.scale.value.set_requires_grad(true);
  model.shift.value.set_requires_grad(true);
  const Tensor y = ops::sum(ops::add(ops::mul(x, model.scale.value), model.shift.value), {.dims = {1}});
  backward(ops::scale(ops::sum(ops::square(ops::add_scalar(y, -1))), 0.5));
  const std::vector<float> scale = model.scale.value.grad().to_vector<float>();
  const std::vector<float> shift = model.shift.value.grad().to_vector<float>();
  for (const int ranks : {1, 3, 4}) {
    for (const int64_t micro_batch : {7, 32, 100}) {
      const Result result = run_on(ranks, {.micro_batch = micro_batch});
      for (size_t i = 0; i < scale.size(); ++i) {
        EXPECT_NEAR(result.scale[i], scale[i], 2e-6 * (100 + std::abs(scale[i])));
        EXPECT_NEAR(result.shift[i], shift[i], 2e-6 * (100 + std::abs(shift[i])));
      }
    }
  }
}

TEST(DataParallel, DividesByTheTrueGlobalCount) {
  // Micro-batches of 3 and 1 samples: y = w x, w = 0, loss (w x - y)^2 / 2, samples (1,1) (2,2) (3,3) and
  // (4,4).
  test::run_ranks(2, [](comm::Communicator& communicator) {
    Parameter w{"w", Tensor::zeros({1}), {}};
    DistributedDataParallel ddp({&w}, {}, communicator, {.virtual_ranks = 2, .sums = 1});
    const StepPlan plan = plan_step(4, 3, 2, communicator.size(), communicator.rank());
    const auto sums = ddp.step(plan, {}, [&](const MicroBatch& micro_batch, std::span<double> row) {
      std::vector<float> values;
      for (int64_t i = 0; i < micro_batch.count; ++i)
        values.push_back(static_cast<float>(micro_batch.first + i + 1));
      const Tensor x = Tensor::from(values, {micro_batch.count});
      row[0] += static_cast<double>(micro_batch.count);
      return ops::scale(ops::sum(ops::square(ops::sub(ops::mul(w.value, x), x))), 0.5);
    });
    EXPECT_EQ(ddp.gradient(0).item() / sums[0], -7.5);
  });
}

TEST(DataParallel, AParameterThatNothingReachesHasZeros) {
  EXPECT_EQ(run_on(3, {}).unused, std::vector<float>(3, 0));
}

TEST(DataParallel, OneReductionPerBucketAndStepWhateverTheAccumulation) {
  const auto traffic = [](int64_t micro_batch) {
    uint64_t messages = 0;
    uint64_t bytes = 0;
    test::run_ranks(2, [&](comm::Communicator& communicator) {
      run(communicator, {.samples = 64, .micro_batch = micro_batch});
      if (communicator.rank() != 0) return;
      messages = communicator.messages_sent();
      bytes = communicator.bytes_sent();
    });
    return std::pair(messages, bytes);
  };
  EXPECT_EQ(traffic(64), traffic(2));
  // Two steps; half of 112 padded floats out and half back in each, and 4 sums in double.
  EXPECT_LE(traffic(2).second, 2U * (112 * 4 + 4 * 8 + 8));
}

TEST(DataParallel, RunningStatisticsCountMicroBatches) {
  // Momentum 0.1, two steps of M = 13 micro-batches with the same mean v: 1 - 0.9^26 of it.
  const Result result = run_on(2, {.samples = 100});
  double mean = 0;
  for (int64_t first = 0; first < 100; first += 8) {
    mean += ops::mean(samples(first, std::min<int64_t>(8, 100 - first))).item() / 13;
  }
  EXPECT_NEAR(result.running[0], (1 - std::pow(0.9, 26)) * mean, 1e-6);
}

/// Three parameters in a bucket each, in reverse order; the gradient of their sum of products with these is
/// these.
struct Products {
  std::vector<Parameter> parameters;
  DistributedDataParallel ddp;

  explicit Products(comm::Communicator& communicator)
      : parameters(make_parameters()), ddp(pointers(), {}, communicator, options()) {}

  static std::vector<Parameter> make_parameters() {
    std::vector<Parameter> made;
    for (const char* name : {"a", "b", "c"}) made.push_back({name, Tensor::zeros({16}), {}});
    return made;
  }
  std::vector<Parameter*> pointers() {
    std::vector<Parameter*> all;
    for (Parameter& parameter : parameters) all.push_back(&parameter);
    return all;
  }
  static DataParallelOptions options() {
    return {.virtual_ranks = 8, .buckets = {.bucket_bytes = 64, .first_bucket_bytes = 64}};
  }
  /// A step of 16 samples; element 5 of a parameter gets `value` as its gradient where a rank has one for it.
  void step(comm::Communicator& communicator, size_t parameter, std::optional<float> value) {
    const StepPlan plan = plan_step(16, 1, 8, communicator.size(), communicator.rank());
    ddp.step(plan, {}, [&](const MicroBatch& micro_batch, std::span<double>) {
      Tensor loss = Tensor::scalar(0);
      for (size_t i = 0; i < parameters.size(); ++i) {
        Tensor factors = Tensor::full({16}, 1);
        const bool first = micro_batch.index % (16 / communicator.size()) == 0;
        if (i == parameter && value && first) factors.data<float>()[5] = *value;
        loss = ops::add(loss, ops::sum(ops::mul(parameters[i].value, factors)));
      }
      return loss;
    });
  }
};

/// Which parameter and ranks four ranks find, where each has its value (or none) for it.
void expect_found(size_t parameter, const std::vector<std::optional<float>>& values,
                  const std::vector<int>& ranks) {
  test::run_ranks(4, [&](comm::Communicator& communicator) {
    Products model(communicator);
    model.step(communicator, parameter, {});
    EXPECT_TRUE(model.ddp.gradient_is_finite());
    model.step(communicator, parameter, values[static_cast<size_t>(communicator.rank())]);
    EXPECT_FALSE(model.ddp.gradient_is_finite());
    const NonFinite found = model.ddp.find_nonfinite_gradient();
    EXPECT_EQ(found.tensor, parameter);
    EXPECT_EQ(found.ranks, ranks);
    model.step(communicator, parameter, {});
    EXPECT_TRUE(model.ddp.gradient_is_finite()) << "the next step is another one";
    EXPECT_EQ(model.ddp.gradient(parameter).to_vector<float>(), std::vector<float>(16, 16));
  });
}

TEST(DataParallel, OneRanksInfinityOrNaNIsFoundByAllRanks) {
  for (const size_t parameter : {0U, 1U, 2U}) {  // the last one is in the first bucket
    expect_found(parameter, {{}, {}, {}, HUGE_VALF}, {3});
    expect_found(parameter, {{}, NAN, {}, {}}, {1});
    expect_found(parameter, {-HUGE_VALF, {}, HUGE_VALF, {}}, {0, 2});
  }
}

TEST(DataParallel, AnOverflowOfTheSumIsFound) {
  expect_found(1, {3e38F, {}, {}, 3e38F}, {});
}

TEST(DataParallel, AnInfinityIsFoundOnAnyNumberOfRanks) {
  for (const int ranks : {1, 2, 3, 8}) {
    test::run_ranks(ranks, [](comm::Communicator& communicator) {
      Products model(communicator);
      model.step(communicator, 2, communicator.rank() == 0 ? std::optional(HUGE_VALF) : std::nullopt);
      EXPECT_FALSE(model.ddp.gradient_is_finite());
      EXPECT_EQ(model.ddp.find_nonfinite_gradient().ranks, std::vector<int>{0});
    });
  }
}

TEST(DataParallel, GradientsArriveTimesTheLossScale) {
  test::run_ranks(2, [](comm::Communicator& communicator) {
    Products model(communicator);
    for (const double scale : {65536.0, 0.5}) {
      model.ddp.set_loss_scale(scale);
      model.step(communicator, 0, {});
      EXPECT_EQ(model.ddp.gradient(0).to_vector<float>(),
                std::vector<float>(16, static_cast<float>(16 * scale)));
    }
  });
}

TEST(DataParallel, AnErrorInForwardReachesEveryRank) {
  test::expect_error<Error>(
      [] {
        test::run_ranks(2, [](comm::Communicator& communicator) {
          Parameter w{"w", Tensor::zeros({1}), {}};
          DistributedDataParallel ddp({&w}, {}, communicator, {.virtual_ranks = 2});
          const StepPlan plan = plan_step(2, 1, 2, communicator.size(), communicator.rank());
          ddp.step(plan, {}, [&](const MicroBatch& micro_batch, std::span<double>) -> Tensor {
            if (micro_batch.index == 1) throw DataError("[read] sample 1 is damaged");
            return ops::sum(w.value);
          });
        });
      },
      "sample 1 is damaged");
}

}  // namespace
}  // namespace lockstep::parallel
