#include "train/weight_average.h"

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "tests/support/expect_error.h"

namespace lockstep::train {
namespace {

struct TwoParameters {
  Parameter first{"first", Tensor::from<float>({1, 2}, {2}), {}};
  Parameter second{"second", Tensor::from<float>({4}, {1}), {}};
  std::vector<Parameter*> all() { return {&first, &second}; }
};

TEST(WeightAverage, FollowsTheWeights) {
  TwoParameters model;
  WeightAverage average(model.all(), 0.75);
  average.reset();
  model.first.value.copy_from(Tensor::from<float>({5, 2}, {2}));
  model.second.value.copy_from(Tensor::from<float>({0}, {1}));
  average.update();
  ASSERT_EQ(average.state().size(), 2U);
  EXPECT_EQ(average.state()[0].name, "first");
  EXPECT_EQ(average.state()[0].value.to_vector<float>(), (std::vector<float>{2, 2}));
  EXPECT_EQ(average.state()[1].value.to_vector<float>(), std::vector<float>{3});
  average.update();
  EXPECT_EQ(average.state()[1].value.to_vector<float>(), std::vector<float>{2.25});
}

TEST(WeightAverage, StandsInForTheWeightsWhileInUse) {
  TwoParameters model;
  WeightAverage average(model.all(), 0.5);
  average.reset();
  model.second.value.copy_from(Tensor::from<float>({8}, {1}));
  average.update();
  {
    const WeightAverage::InUse in_use(&average);
    EXPECT_EQ(model.second.value.to_vector<float>(), std::vector<float>{6});
  }
  EXPECT_EQ(model.second.value.to_vector<float>(), std::vector<float>{8});
  EXPECT_EQ(average.state()[1].value.to_vector<float>(), std::vector<float>{6});
  const WeightAverage::InUse none(nullptr);
}

TEST(WeightAverage, RefusesADecayOutOfRange) {
  TwoParameters model;
  for (const double decay : {0.0, 1.0, -0.5}) {
    test::expect_error<InvalidArgument>([&] { WeightAverage(model.all(), decay); },
                                        "decay: expected a number in (0, 1), got ");
  }
}

}  // namespace
}  // namespace lockstep::train
