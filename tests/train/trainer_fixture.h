// Training runs on ranks that are threads, in a folder of their own.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/support/run_ranks.h"
#include "tests/train/small_run.h"
#include "tests/train/temporary_folder.h"
#include "train/metrics_file.h"
#include "train/trainer.h"

namespace lockstep::train {

class TrainerTest : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path(name); }

  /// Trains on ranks that are threads; returns how it ended, the same on all ranks.
  Outcome train(int ranks, const std::string& name, const TrainConfig& config = small_run(),
                const TrainerOptions& options = {}) {
    std::atomic<int> finished{0};
    test::run_ranks(ranks, [&](comm::Communicator& communicator) {
      TrainerOptions own = options;
      own.output = path(name);
      Trainer trainer(config, communicator, requests_, own);
      if (trainer.run() == Outcome::kFinished) ++finished;
    });
    EXPECT_TRUE(finished == 0 || finished == ranks) << "ranks disagree about the end";
    return finished > 0 ? Outcome::kFinished : Outcome::kStopped;
  }

  std::string weights(const std::string& name, const std::string& file_name = "model.safetensors") const {
    std::ifstream file(path(name) + "/" + file_name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::vector<double> figures(const std::string& name, const char* figure) const {
    std::vector<double> values;
    for (const MetricsLine& line : read_metrics(path(name) + "/metrics.jsonl")) {
      if (line.fields.contains(figure)) values.push_back(line.fields[figure].get<double>());
    }
    return values;
  }
  std::vector<double> losses(const std::string& name) const { return figures(name, "loss"); }

  TemporaryFolder folder_;
  Requests requests_;
};

}  // namespace lockstep::train
