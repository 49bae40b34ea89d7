#include "train/assembly.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "runtime/error.h"
#include "tests/support/expect_error.h"
#include "tests/support/run_ranks.h"
#include "tests/train/small_run.h"

namespace lockstep::train {
namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::count(names.begin(), names.end(), name) == 1;
}

TEST(KnownNames, ComeFromTheTables) {
  const KnownNames known = known_names();
  EXPECT_TRUE(contains(known.models, "cnn"));
  EXPECT_TRUE(contains(known.data, "fashion_mnist"));
  EXPECT_TRUE(contains(known.optimizers, "sgd"));
  EXPECT_TRUE(contains(known.schedules, "cosine"));
}

double nothing(const Tensor& /*output*/, const Tensor& /*target*/) {
  return 0;
}

TEST(KnownNames, AProgramsOwnAreNoOthers) {
  test::expect_error<ConfigError>(
      [] {
        known_names({.metrics = {{"accuracy", nothing}}});
      },
      "metric \"accuracy\" exists already");
  for (const char* field : {"loss", "step", "count", "bad_samples"}) {
    test::expect_error<ConfigError>(
        [&] {
          known_names({.metrics = {{field, nothing}}});
        },
        "a field of metrics.jsonl has this name");
  }
}

TEST(Assembly, LimitsTakeTheFirstSamples) {
  TrainConfig config = small_run();
  const auto train = make_source(config, data::Split::kTrain);
  const auto test = make_source(config, data::Split::kTest);
  EXPECT_EQ(train->size(), 50);
  EXPECT_EQ(test->size(), 21);
  config.mutable_data()->set_train_limit(7);
  EXPECT_EQ(sample_count(config, *train, data::Split::kTrain), 7);
  EXPECT_EQ(sample_count(config, *test, data::Split::kTest), 21);
  config.mutable_data()->set_train_limit(1000);
  EXPECT_EQ(sample_count(config, *train, data::Split::kTrain), 50);
}

TEST(Assembly, EvaluationOnlyNormalises) {
  TrainConfig config = small_run();
  config.mutable_data()->add_mean(0.25);
  config.mutable_data()->add_deviation(0.5);
  const data::SampleSpec spec = make_source(config, data::Split::kTrain)->spec();
  EXPECT_EQ(augment_options(config, spec, data::Split::kTrain).crop_padding, 1);
  EXPECT_TRUE(augment_options(config, spec, data::Split::kTrain).flip);
  const data::AugmentOptions evaluation = augment_options(config, spec, data::Split::kTest);
  EXPECT_EQ(evaluation.crop_padding, 0);
  EXPECT_FALSE(evaluation.flip);
  EXPECT_EQ(evaluation.mean, std::vector<double>{0.25});
  EXPECT_EQ(evaluation.std, std::vector<double>{0.5});
}

TEST(Assembly, OneMeanServesAllChannels) {
  TrainConfig config = small_run();
  config.mutable_data()->add_mean(0.25);
  config.mutable_data()->add_deviation(0.5);
  data::SampleSpec spec{.name = "photos", .shape = {3, 8, 8}, .dtype = DType::kU8, .classes = 4};
  EXPECT_EQ(augment_options(config, spec, data::Split::kTrain).mean, std::vector<double>(3, 0.25));
  EXPECT_EQ(augment_options(config, spec, data::Split::kTrain).std, std::vector<double>(3, 0.5));
  config.mutable_data()->add_mean(0.5);
  test::expect_error<ConfigError>([&] { augment_options(config, spec, data::Split::kTest); },
                                  "data.mean has 2 values: expected 1 or as many as photos has channels, 3");
}

TEST(Assembly, ACropThatDoesNotFitTheImagesIsAMistakeOfTheConfiguration) {
  TrainConfig config = small_run();
  const data::SampleSpec spec = make_source(config, data::Split::kTrain)->spec();
  config.mutable_data()->mutable_augment()->set_crop_padding(8);
  test::expect_error<ConfigError>([&] { augment_options(config, spec, data::Split::kTrain); },
                                  "data.augment.crop_padding = 8: expected 0 to 7");
  EXPECT_NO_THROW(augment_options(config, spec, data::Split::kTest)) << "evaluation does not crop";
}

TEST(Assembly, TheNumberOfClassesIsTheDatas) {
  TrainConfig config = small_run();
  config.mutable_data()->set_classes(7);
  EXPECT_EQ(make_source(config, data::Split::kTest)->spec().classes, 7);
}

TEST(Assembly, TheLearningRateScalesWithTheBatch) {
  TrainConfig config = small_run();
  config.mutable_optimizer()->set_lr(0.1);
  config.set_global_batch(1024);
  EXPECT_EQ(scaled_lr(config), 0.1);
  config.mutable_schedule()->set_scaling(TrainConfig::Schedule::LINEAR);
  config.mutable_schedule()->set_base_batch(256);
  EXPECT_EQ(scaled_lr(config), 0.4);
}

TEST(Assembly, TheScheduleCountsSteps) {
  TrainConfig config = small_run();  // 4 steps an epoch, half an epoch of warm-up
  const optim::LrSchedule schedule = make_schedule(config, make_plan(config, 50));
  EXPECT_DOUBLE_EQ(schedule(0), 0.025);
  EXPECT_DOUBLE_EQ(schedule(1), 0.05);
  EXPECT_NEAR(schedule(8), 0, 1e-12);
}

TEST(Assembly, TheSeedDecidesTheFirstWeights) {
  TrainConfig config = small_run();
  const data::SampleSpec spec = make_source(config, data::Split::kTrain)->spec();
  const auto first = [&] {
    const auto model = make_model(config, spec);
    return models::parameters(*model)[0]->value.to_vector<float>();
  };
  const std::vector<float> once = first();
  EXPECT_EQ(first(), once);
  config.set_seed(2);
  EXPECT_NE(first(), once);
}

TEST(Assembly, DropoutThatIsNotSetIsLeftToTheModel) {
  static std::optional<double> given;
  const Extensions own{.models = {{"probe", [](const models::ModelOptions& options) {
                                     given = options.dropout;
                                     return models::make_model("linear",
                                                               {.input = options.input, .classes = 2});
                                   }}}};
  TrainConfig config = small_run();
  const data::SampleSpec spec = make_source(config, data::Split::kTrain)->spec();
  config.mutable_model()->set_name("probe");
  config.mutable_model()->set_dropout(0);
  make_model(config, spec, own);
  EXPECT_EQ(given, 0);
  config.mutable_model()->clear_dropout();
  make_model(config, spec, own);
  EXPECT_EQ(given, std::nullopt);
}

TEST(Assembly, TheOptimizerWalksThroughMemoryInOrder) {
  test::run_ranks(1, [](comm::Communicator& communicator) {
    TrainConfig config = small_run();
    const auto model = make_model(config, make_source(config, data::Split::kTrain)->spec());
    const std::vector<Parameter*> parameters = models::parameters(*model);
    parallel::DistributedDataParallel data_parallel(parameters, {}, communicator, {});
    const auto optimizer = make_optimizer(config, parameters, data_parallel);
    const auto& optimized = optimizer->parameters();
    ASSERT_EQ(optimized.size(), parameters.size());
    for (size_t i = 1; i < optimized.size(); ++i) {
      EXPECT_LT(optimized[i - 1].value.data<float>(), optimized[i].value.data<float>());
      EXPECT_LT(optimized[i - 1].gradient.data<float>(), optimized[i].gradient.data<float>());
    }
    for (const optim::OptimizedParameter& parameter : optimized) {
      EXPECT_EQ(parameter.weight_decay > 0, parameter.value.ndim() >= 2) << parameter.name;
    }
  });
}

}  // namespace
}  // namespace lockstep::train
