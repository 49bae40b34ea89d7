// After its first steps a run takes no more memory from the system, and little from the heap.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "runtime/pool.h"
#include "tests/train/allocation_count.h"
#include "tests/train/trainer_fixture.h"
#include "train/losses.h"

namespace lockstep::train {
namespace {

constexpr int64_t kSteps = 8;
constexpr int64_t kMicroBatches = 4;  // of a step

struct Reading {
  uint64_t device_requests;
  test::AllocationCount heap;
};
std::vector<Reading> readings;  // one per micro-batch

ops::LossResult observed_cross_entropy(const Tensor& output, const Tensor& target,
                                       const LossOptions& options) {
  readings.push_back({pool::statistics(kCpu).device_requests, test::allocation_count()});
  const std::vector<LossRow> rows = losses();
  const auto row = std::ranges::find(rows, std::string("cross_entropy"), &LossRow::name);
  return row->compute(output, target, options);
}

class SteadyStateTest : public TrainerTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(SteadyStateTest, TakesNoMoreMemory) {
  TrainConfig config = parse_config(R"(
    data { name: "synthetic" classes: 4 loader_threads: 0 synthetic { test_samples: 4 height: 16 width: 16 channels: 3 } }
    micro_batch: 4
    epochs: 1
    threads: 1
    loss { name: "observed" }
    optimizer { lr: 0.01 }
    evaluation { every_epochs: 0 metrics: "accuracy" }
    metrics { curves: false }
    checkpoint { every_steps: 0 every_epochs: 0 }
  )",
                                    "steady state");
  config.mutable_model()->set_name(GetParam());
  config.mutable_model()->set_batch_norm(GetParam() != std::string("mlp"));
  config.set_global_batch(4 * kMicroBatches);
  config.mutable_data()->mutable_synthetic()->set_train_samples(4 * kMicroBatches * kSteps);
  TrainerOptions options;
  options.own.losses = {{"observed", observed_cross_entropy}};
  readings.clear();
  readings.reserve(2 * kSteps * kMicroBatches);
  train(1, GetParam(), config, options);

  constexpr size_t kWarm = 2 * kMicroBatches;  // readings
  constexpr size_t kLast = kSteps * kMicroBatches - 1;
  ASSERT_GT(readings.size(), kLast);
  EXPECT_EQ(readings[kLast].device_requests, readings[kWarm].device_requests);
  const test::AllocationCount& before = readings[kWarm].heap;
  const test::AllocationCount& after = readings[kLast].heap;
  const auto micro_batches = static_cast<int64_t>(kLast - kWarm);
  const int64_t bytes = (after.bytes - before.bytes) / micro_batches;
  RecordProperty("allocations_per_micro_batch", std::to_string((after.calls - before.calls) / micro_batches));
  RecordProperty("bytes_per_micro_batch", std::to_string(bytes));
  EXPECT_GT(bytes, 0) << "what is counted?";
  EXPECT_LT(bytes, int64_t{1} << 19) << "nodes and shapes, but no elements of tensors";
}

INSTANTIATE_TEST_SUITE_P(Models, SteadyStateTest, ::testing::Values("mlp", "cnn", "resnet20"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace lockstep::train
