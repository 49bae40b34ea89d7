#include "train/model_file.h"

#include <gtest/gtest.h>

#include "models/table.h"
#include "tests/support/expect_error.h"
#include "tests/train/temporary_folder.h"
#include "train/safetensors.h"

namespace lockstep::train {
namespace {

TEST(ModelFile, SaysWhatTheModelTakesAndMeans) {
  const TemporaryFolder folder;
  const std::string path = folder.path("model.safetensors");
  const auto model = models::make_model("linear", {.input = {1, 2, 3}, .classes = 2});
  save_model(path, *model,
             {.name = "pets",
              .shape = {1, 2, 3},
              .dtype = DType::kU8,
              .classes = 2,
              .class_names = {"cat", "big dog"}});
  const data::SampleSpec spec = read_model_spec(path);
  EXPECT_EQ(spec.shape, (Shape{1, 2, 3}));
  EXPECT_EQ(spec.dtype, DType::kU8);
  EXPECT_EQ(spec.classes, 2);
  EXPECT_EQ(spec.class_names, (std::vector<std::string>{"cat", "big dog"}));
  EXPECT_EQ(SafetensorsFile(path).metadata().at("format"), "pt");
  EXPECT_EQ(SafetensorsFile(path).entries().size(), 2U);
}

TEST(ModelFile, OtherProgramsFilesDoNotSay) {
  const TemporaryFolder folder;
  const std::string path = folder.path("other.safetensors");
  save_safetensors(path, {}, {{"format", "pt"}});
  test::expect_error<DataError>([&] { read_model_spec(path); }, "does not say its \"input\"");
  save_safetensors(path, {}, {{"input", "1 -2"}, {"input_dtype", "u8"}, {"classes", "2"}});
  test::expect_error<DataError>([&] { read_model_spec(path); }, "\"input\": expected a few numbers above 0");
  save_safetensors(path, {}, {{"input", "1 2"}, {"input_dtype", "u8"}, {"classes", "many"}});
  test::expect_error<DataError>([&] { read_model_spec(path); },
                                "\"classes\": expected a number above 0, got many");
}

}  // namespace
}  // namespace lockstep::train
