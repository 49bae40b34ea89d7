#include "train/prediction.h"

#include <gtest/gtest.h>

#include "models/table.h"
#include "runtime/error.h"
#include "tests/support/expect_error.h"
#include "train/config.h"

namespace lockstep::train {
namespace {

SavedModel model_of(const Shape& input) {
  data::SampleSpec spec{.name = "test", .shape = input, .classes = 3};
  return {default_config(), spec, models::make_model("linear", {.input = input, .classes = 3})};
}

TEST(Prediction, NeedsAModelOfSquarePictures) {
  for (const Shape& input : {Shape{1, 4, 5}, Shape{2, 4, 4}, Shape{16}}) {
    test::expect_error<ConfigError>([&] { predict(model_of(input), {"a.jpg"}, 1); },
                                    "expected a model that takes square pictures");
  }
}

TEST(Prediction, EveryFileHasAnAnswer) {
  std::vector<std::string> files;
  for (int i = 0; i < 40; ++i) files.push_back("/nowhere/" + std::to_string(i));
  const std::vector<Prediction> predictions = predict(model_of({1, 4, 4}), files, 1);
  ASSERT_EQ(predictions.size(), 40U);
  for (size_t i = 0; i < 40; ++i) {
    EXPECT_EQ(predictions[i].file, files[i]);
    EXPECT_EQ(predictions[i].error, "[data] " + files[i] + ": cannot be opened: No such file or directory");
    EXPECT_TRUE(predictions[i].top.empty());
  }
}

TEST(Prediction, AFolderIsNoPicture) {
  const std::vector<Prediction> predictions = predict(model_of({1, 4, 4}), {"/tmp"}, 1);
  EXPECT_EQ(predictions[0].error, "[data] /tmp: is no regular file");
}

TEST(Prediction, NeedsANumberForEachClass) {
  SavedModel saved = model_of({1, 4, 4});
  saved.spec.classes = 4;
  test::expect_error<ConfigError>([&] { predict(saved, {"a.jpg"}, 1); },
                                  "expected a model that gives [1, 4] for so many pictures");
}

}  // namespace
}  // namespace lockstep::train
