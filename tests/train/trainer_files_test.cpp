// How the trainer begins, goes on and ends: weights from elsewhere, averages, the best weights.
#include <filesystem>

#include "runtime/error.h"
#include "tests/support/expect_error.h"
#include "tests/train/trainer_fixture.h"
#include "train/checkpoint.h"
#include "train/safetensors.h"
#include "train/weights_hash.h"

namespace lockstep::train {
namespace {

class TrainerFiles : public TrainerTest {
 protected:
  static std::vector<float> tensor(const std::string& file, const std::string& name) {
    for (const NamedTensor& tensor : load_safetensors(file)) {
      if (tensor.name == name) return tensor.value.to_vector<float>();
    }
    ADD_FAILURE() << file << " has no " << name;
    return {};
  }
};

TEST_F(TrainerFiles, FineTuningKeepsWhatIsFrozenAndReplacesTheHead) {
  train(2, "first");
  TrainConfig config = small_run();
  config.mutable_data()->set_classes(3);
  config.mutable_init_from()->set_path(path("first"));
  config.mutable_init_from()->add_skip("fc2.*");
  config.add_frozen("conv*");
  train(2, "tuned", config);
  train(1, "alone", config);
  EXPECT_EQ(weights("tuned"), weights("alone"));
  const std::string before = path("first/model.safetensors");
  const std::string after = path("tuned/model.safetensors");
  EXPECT_EQ(tensor(after, "conv1.weight"), tensor(before, "conv1.weight"));
  EXPECT_NE(tensor(after, "fc1.weight"), tensor(before, "fc1.weight"));
  EXPECT_EQ(tensor(after, "fc2.bias").size(), 3U);
}

TEST_F(TrainerFiles, OfAFrozenTrunkOnlyTheStatisticsMove) {
  train(1, "first");
  TrainConfig config = small_run();
  config.mutable_init_from()->set_path(path("first"));
  config.set_average_decay(0.5);
  for (const char* pattern : {"conv*", "bn*", "fc1.*"}) config.add_frozen(pattern);
  train(3, "tuned", config);
  const auto hashes = [&](const std::string& run) {
    return hash_weights(load_safetensors(path(run + "/model.safetensors"))).tensors;
  };
  const auto before = hashes("first");
  const auto after = hashes("tuned");
  ASSERT_EQ(before.size(), after.size());
  for (size_t i = 0; i < before.size(); ++i) {
    const std::string& name = before[i].first;
    const bool moves = name.starts_with("fc2") || name.find(".running_") != std::string::npos ||
                       name.ends_with("num_batches_tracked");
    EXPECT_EQ(before[i].second != after[i].second, moves) << name;
  }
}

TEST_F(TrainerFiles, InitialWeightsAreForTheBeginningOnly) {
  train(1, "first");
  TrainConfig config = small_run();
  config.mutable_init_from()->set_path(path("first"));
  train(2, "unbroken", config);
  TrainerOptions options;
  options.stop_at_step = 3;
  train(2, "broken", config, options);
  options = {};
  options.resume = "latest";
  train(1, "broken", config, options);
  EXPECT_EQ(weights("broken"), weights("unbroken"));
}

TEST_F(TrainerFiles, AWrongFileToStartFromEndsAllRanks) {
  TrainConfig config = small_run();
  config.mutable_init_from()->set_path(path("nowhere"));
  test::expect_error<Error>([&] { train(2, "run", config); }, "nowhere");
}

TEST_F(TrainerFiles, AnAverageIsWhatIsEvaluatedAndWritten) {
  TrainConfig config = small_run();
  config.set_average_decay(0.75);
  train(2, "unbroken", config);
  train(1, "plain");
  EXPECT_EQ(losses("unbroken"), losses("plain")) << "training goes on with the weights themselves";
  EXPECT_NE(weights("unbroken"), weights("plain"));
  const Checkpoint last = load_checkpoint(path("unbroken/checkpoints/step-00000008"));
  ASSERT_FALSE(last.average.empty());
  EXPECT_EQ(tensor(path("unbroken/model.safetensors"), "fc2.bias"),
            tensor(path("unbroken/checkpoints/step-00000008/average.safetensors"), "fc2.bias"));
  EXPECT_EQ(tensor(path("unbroken/checkpoints/step-00000008/model.safetensors"), "fc2.bias"),
            tensor(path("plain/model.safetensors"), "fc2.bias"));

  TrainerOptions options;
  options.stop_at_step = 3;
  train(4, "broken", config, options);
  options = {};
  options.resume = "latest";
  train(1, "broken", config, options);
  EXPECT_EQ(weights("broken"), weights("unbroken"));
  EXPECT_EQ(figures("broken", "eval_loss"), figures("unbroken", "eval_loss"));
}

TEST_F(TrainerFiles, AnAverageMayBeginLater) {
  TrainerOptions options;
  options.stop_at_step = 3;
  train(1, "run", small_run(), options);
  TrainConfig config = small_run();
  config.set_average_decay(0.5);
  options = {};
  options.resume = "latest";
  EXPECT_EQ(train(2, "run", config, options), Outcome::kFinished);
}

/// Evaluations do not get better: with such a rate the weights jump about.
TrainConfig hopeless_run() {
  TrainConfig config = small_run();
  config.set_epochs(40);
  config.mutable_optimizer()->set_lr(1e-6);
  config.mutable_schedule()->set_name("constant");
  config.mutable_evaluation()->set_min_improvement(1);
  config.mutable_evaluation()->set_patience(3);
  config.mutable_checkpoint()->set_every_steps(0);
  return config;
}

TEST_F(TrainerFiles, StopsEarlyOnAllRanksAlike) {
  EXPECT_EQ(train(2, "run", hopeless_run()), Outcome::kFinished);
  EXPECT_EQ(figures("run", "eval_loss").size(), 4U) << "the first is the best, three are no better";
  EXPECT_TRUE(std::filesystem::exists(path("run/model.safetensors")));
  TrainerOptions options;
  options.resume = "latest";
  EXPECT_EQ(train(1, "run", hopeless_run(), options), Outcome::kFinished) << "there is nothing left to do";
  EXPECT_EQ(figures("run", "eval_loss").size(), 4U);
  const std::filesystem::directory_iterator events(path("run/events"));
  EXPECT_EQ(std::distance(begin(events), end(events)), 1) << "nothing to tell TensorBoard";
}

TEST_F(TrainerFiles, ThePatienceSurvivesAResume) {
  TrainerOptions options;
  options.stop_at_step = 10;  // after two evaluations
  train(2, "run", hopeless_run(), options);
  options = {};
  options.resume = "latest";
  train(1, "run", hopeless_run(), options);
  EXPECT_EQ(figures("run", "eval_loss").size(), 4U);
}

TEST_F(TrainerFiles, KeepsTheBestWeights) {
  TrainConfig config = hopeless_run();
  config.mutable_evaluation()->set_keep_best(true);
  train(2, "run", config);
  config.set_epochs(1);  // the first evaluation was the best
  train(1, "short", config);
  EXPECT_EQ(weights("run", "best.safetensors"), weights("short", "best.safetensors"));
  EXPECT_EQ(weights("short", "best.safetensors"), weights("short"));
  EXPECT_NE(weights("run", "best.safetensors"), weights("run"));
}

TEST_F(TrainerFiles, TheBestWeightsGoOnWithTheCheckpoint) {
  TrainConfig config = hopeless_run();
  config.mutable_evaluation()->set_keep_best(true);
  TrainerOptions options;
  options.stop_at_step = 6;  // the best was at step 4
  train(2, "run", config, options);
  const std::string best = weights("run", "best.safetensors");
  ASSERT_FALSE(best.empty());
  std::ofstream(path("run/best.safetensors")) << "of a later step that was lost";
  options = {};
  options.resume = "latest";
  options.stop_at_step = 7;
  train(1, "run", config, options);
  EXPECT_EQ(weights("run", "best.safetensors"), best);
  options.resume = path("run");
  options.stop_at_step = 8;
  train(2, "elsewhere", config, options);
  EXPECT_EQ(weights("elsewhere", "best.safetensors"), best);
}

TEST_F(TrainerFiles, ABestEvaluationThatMeansNothingAnyMoreIsForgotten) {
  TrainConfig config = hopeless_run();
  TrainerOptions options;
  options.stop_at_step = 10;
  train(1, "run", config, options);
  const auto best_of = [&](const std::string& run, const char* checkpoint) {
    return load_checkpoint(path(run + "/checkpoints/" + checkpoint)).state.best();
  };
  EXPECT_EQ(best_of("run", "step-00000010").step(), 4);
  EXPECT_EQ(best_of("run", "step-00000010").since(), 1);
  options.resume = path("run");
  options.stop_at_step = 12;
  TrainConfig keeping = config;
  keeping.mutable_evaluation()->set_keep_best(true);  // too late for those of step 4
  train(2, "keeping", keeping, options);
  EXPECT_EQ(best_of("keeping", "step-00000012").step(), 12);
  EXPECT_FALSE(weights("keeping", "best.safetensors").empty());
  config.mutable_evaluation()->set_best_by("accuracy");
  train(2, "other", config, options);
  EXPECT_EQ(best_of("other", "step-00000012").step(), 12) << "a loss is no accuracy";
}

TEST_F(TrainerFiles, TheParametersSettingsAreInTheRunDirectoryAndTheCheckpoint) {
  train(1, "run");
  std::ifstream file(path("run/parameters.txt"));
  const std::string table{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(table.find("conv1.weight"), std::string::npos) << table;
  const CheckpointState state = load_checkpoint(path("run/checkpoints/step-00000008")).state;
  const std::vector<std::string> plain(state.plain_parameters().begin(), state.plain_parameters().end());
  EXPECT_EQ(plain, (std::vector<std::string>{"fc2.bias", "fc1.bias", "bn2.bias", "bn2.weight", "bn1.bias",
                                             "bn1.weight"}));
}

/// Two classes with names.
class NamedClasses final : public data::DataSource {
 public:
  explicit NamedClasses(const char* second) {
    spec_ = {.name = "named",
             .shape = {1, 8, 8},
             .dtype = DType::kU8,
             .classes = 2,
             .class_names = {"cat", second}};
  }
  int64_t size() const override { return 20; }
  const data::SampleSpec& spec() const override { return spec_; }
  void read(const data::SampleRequest& request) const override {
    std::fill_n(request.input, 64, static_cast<std::byte>(request.index * 12));
    request.set_label(request.index % 2);
  }

 private:
  data::SampleSpec spec_;
};

std::unique_ptr<data::DataSource> open_dogs(const data::SourceOptions& /*options*/) {
  return std::make_unique<NamedClasses>("dog");
}
std::unique_ptr<data::DataSource> open_cows(const data::SourceOptions& /*options*/) {
  return std::make_unique<NamedClasses>("cow");
}
std::unique_ptr<data::DataSource> open_both(const data::SourceOptions& options) {
  return options.split == data::Split::kTrain ? open_dogs(options) : open_cows(options);
}

TEST_F(TrainerFiles, RanksWithOtherClassesAreTold) {
  TrainConfig config = small_run();
  config.mutable_data()->set_name("pets");
  const std::vector<std::string> errors = test::run_failing_ranks(2, [&](comm::Communicator& communicator) {
    TrainerOptions options;
    options.output = path("run");
    options.own.sources = {{"pets", communicator.rank() == 0 ? open_dogs : open_cows}};
    Trainer(config, communicator, requests_, options).run();
  });
  for (const std::string& error : errors) {
    EXPECT_NE(error.find("rank 1 differs from rank 0 in 'training class 1': cow, rank 0 has dog"),
              std::string::npos)
        << error;
  }
}

TEST_F(TrainerFiles, ARunGoesOnOnlyWithTheClassesItHas) {
  TrainConfig config = small_run();
  config.mutable_data()->set_name("pets");
  TrainerOptions options;
  options.own.sources = {{"pets", open_dogs}};
  options.stop_at_step = 1;
  train(2, "run", config, options);
  options.own.sources = {{"pets", open_cows}};
  options.resume = "latest";
  test::expect_error<Error>([&] { train(1, "run", config, options); },
                            "other classes than the checkpoint: expected cat, dog; got cat, cow");
  options.own.sources = {{"pets", open_both}};
  test::expect_error<Error>([&] { train(1, "run2", config, options); },
                            "have different classes: cat, dog and cat, cow");
}

}  // namespace
}  // namespace lockstep::train
