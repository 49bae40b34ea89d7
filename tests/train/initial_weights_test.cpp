#include "train/initial_weights.h"

#include <gtest/gtest.h>

#include "models/table.h"
#include "tests/support/expect_error.h"
#include "tests/train/temporary_folder.h"
#include "train/safetensors.h"

namespace lockstep::train {
namespace {

std::unique_ptr<models::Module> mlp(int classes, uint64_t seed) {
  auto model = models::make_model("mlp", {.input = {1, 2, 2}, .classes = classes, .hidden = {3}});
  models::initialize(*model, seed);
  return model;
}

class InitialWeights : public ::testing::Test {
 protected:
  InitialWeights() {
    init_.set_path(folder_.path("weights.safetensors"));
    source_ = mlp(2, 1);
  }
  void write() { save_safetensors(init_.path(), models::state_tensors(*source_)); }
  std::string load(models::Module& model) {
    return load_initial_weights(init_, models::state_tensors(model));
  }
  static std::vector<float> values(models::Module& model, size_t tensor) {
    return models::state_tensors(model)[tensor].value.to_vector<float>();
  }

  TemporaryFolder folder_;
  TrainConfig::InitFrom init_;
  std::unique_ptr<models::Module> source_;
};

TEST_F(InitialWeights, AreTakenByName) {
  write();
  const auto model = mlp(2, 7);
  EXPECT_NE(values(*model, 0), values(*source_, 0));
  EXPECT_EQ(load(*model), "initial weights: 4 of the model's 4 tensors from " + init_.path());
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(values(*model, i), values(*source_, i)) << i;
}

TEST_F(InitialWeights, OfARunAreItsModel) {
  init_.set_path(folder_.path("model.safetensors"));
  write();
  init_.set_path(folder_.path(""));
  const auto model = mlp(2, 7);
  load(*model);
  EXPECT_EQ(values(*model, 0), values(*source_, 0));
}

TEST_F(InitialWeights, ANewHeadStaysAsDrawn) {
  write();
  const auto model = mlp(5, 7);
  const std::vector<float> head = values(*model, 2);
  test::expect_error<DataError>([&] { load(*model); },
                                "2 different: fc2.weight (expected f32 [5, 3], got f32 [2, 3])");
  init_.add_skip("fc2.*");
  EXPECT_EQ(load(*model), "initial weights: 2 of the model's 4 tensors from " + init_.path() +
                              "; as drawn stay: fc2.weight, fc2.bias");
  EXPECT_EQ(values(*model, 0), values(*source_, 0));
  EXPECT_EQ(values(*model, 2), head);
}

TEST_F(InitialWeights, LenientLoadingMustBeAskedForAndMustMatchSomething) {
  write();
  const auto model = mlp(5, 7);
  init_.set_lenient(true);
  EXPECT_EQ(load(*model), "initial weights: 2 of the model's 4 tensors from " + init_.path() +
                              "; as drawn stay: fc2.weight, fc2.bias");

  std::vector<NamedTensor> wrapped;
  for (NamedTensor& tensor : models::state_tensors(*source_))
    wrapped.push_back({"module." + tensor.name, tensor.value});
  save_safetensors(init_.path(), wrapped);
  test::expect_error<DataError>([&] { load(*model); }, "0 of 4 tensors match");
  init_.set_lenient(false);
  test::expect_error<DataError>([&] { load(*model); }, "unexpected: module.fc1.bias, module.fc1.weight");
}

TEST_F(InitialWeights, APatternThatMatchesNothingIsAMistake) {
  write();
  const auto model = mlp(2, 7);
  init_.add_skip("head.*");
  test::expect_error<ConfigError>([&] { load(*model); },
                                  "init_from.skip: \"head.*\" matches none of: fc1.weight");
}

google::protobuf::RepeatedPtrField<std::string> patterns(const std::vector<std::string>& list) {
  return {list.begin(), list.end()};
}

TEST(Freeze, LeavesTheOthersToTrain) {
  const auto model = mlp(2, 1);
  const std::vector<Parameter*> trained = freeze(models::parameters(*model), patterns({"fc1.*"}));
  ASSERT_EQ(trained.size(), 2U);
  EXPECT_EQ(trained[0]->name, "fc2.weight");
  EXPECT_FALSE(models::parameters(*model)[0]->value.requires_grad());
  EXPECT_TRUE(trained[0]->value.requires_grad());
}

TEST(Freeze, RefusesPatternsForNothingAndForEverything) {
  const auto model = mlp(2, 1);
  test::expect_error<ConfigError>([&] { freeze(models::parameters(*model), patterns({"conv*"})); },
                                  "frozen: \"conv*\" matches none of: fc1.weight");
  test::expect_error<ConfigError>([&] { freeze(models::parameters(*model), patterns({"*"})); },
                                  "nothing is left to train");
}

}  // namespace
}  // namespace lockstep::train
