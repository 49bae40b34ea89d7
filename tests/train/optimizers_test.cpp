// Every optimizer of the table, in whole runs: ranks and a stop in the middle change no bit.

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <iterator>

#include "optim/table.h"
#include "tests/support/run_ranks.h"
#include "tests/train/small_run.h"
#include "tests/train/temporary_folder.h"
#include "train/trainer.h"

namespace lockstep::train {
namespace {

class OptimizersTest : public ::testing::TestWithParam<std::string> {
 protected:
  OptimizersTest() : config_(small_run()) {
    config_.mutable_optimizer()->set_name(GetParam());
    config_.mutable_optimizer()->set_lr(0.02);
    config_.mutable_optimizer()->set_weight_decay(0.01);
    config_.set_epochs(1);  // four steps, the last one smaller
    config_.mutable_checkpoint()->set_every_steps(0);
  }

  Outcome train(int ranks, const std::string& name, const TrainerOptions& options = {}) {
    std::atomic<int> finished{0};
    test::run_ranks(ranks, [&](comm::Communicator& communicator) {
      TrainerOptions own = options;
      own.output = folder_.path(name);
      if (Trainer(config_, communicator, requests_, own).run() == Outcome::kFinished) ++finished;
    });
    return finished == ranks ? Outcome::kFinished : Outcome::kStopped;
  }

  std::string file(const std::string& name) const {
    std::ifstream stream(folder_.path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  /// The run's final weights, then its optimizer's final state.
  std::string result(const std::string& name) const {
    return file(name + "/model.safetensors") +
           file(name + "/checkpoints/step-00000004/optimizer.safetensors");
  }

  TrainConfig config_;
  TemporaryFolder folder_;
  Requests requests_;
};

TEST_P(OptimizersTest, HasTheSameBitsOnAnyNumberOfRanks) {
  ASSERT_EQ(train(1, "np1"), Outcome::kFinished);
  ASSERT_FALSE(file("np1/checkpoints/step-00000004/optimizer.safetensors").empty());
  for (const int ranks : {2, 4}) {
    const std::string name = "np" + std::to_string(ranks);
    ASSERT_EQ(train(ranks, name), Outcome::kFinished);
    EXPECT_EQ(result(name), result("np1")) << ranks;
  }
}

TEST_P(OptimizersTest, ResumedInTheMiddleItEndsWithTheSameBits) {
  ASSERT_EQ(train(2, "unbroken"), Outcome::kFinished);
  TrainerOptions options;
  options.stop_at_step = 2;
  ASSERT_EQ(train(2, "broken", options), Outcome::kStopped);
  options = {};
  options.resume = "latest";
  ASSERT_EQ(train(1, "broken", options), Outcome::kFinished);
  EXPECT_EQ(result("broken"), result("unbroken"));
}

INSTANTIATE_TEST_SUITE_P(All, OptimizersTest, ::testing::ValuesIn(optim::optimizer_names()),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace lockstep::train
