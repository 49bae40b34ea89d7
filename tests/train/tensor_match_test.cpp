#include "train/tensor_match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/error.h"

namespace lockstep::train {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<NamedTensor> model() {
  return {{"fc.weight", Tensor::zeros({10, 8})}, {"fc.bias", Tensor::zeros({10})}};
}

std::vector<NamedTensor> file() {
  return {{"fc.bias", Tensor::full({10}, 2)}, {"fc.weight", Tensor::full({10, 8}, 1)}};
}

std::string load_error(const std::vector<NamedTensor>& sources, const std::vector<NamedTensor>& targets,
                       Matching matching) {
  try {
    load_by_name("w.safetensors", sources, targets, matching);
  } catch (const DataError& error) {
    for (const NamedTensor& target : targets) {
      EXPECT_THAT(target.value.to_vector<float>(), ::testing::Each(0)) << "copied in spite of the error";
    }
    return error.what();
  }
  return "no DataError";
}

TEST(LoadByName, CopiesInPlaceWhateverTheOrder) {
  const std::vector<NamedTensor> targets = model();
  EXPECT_EQ(load_by_name("w.safetensors", file(), targets),
            (std::vector<std::string>{"fc.weight", "fc.bias"}));
  EXPECT_EQ(targets[0].value.data<float>()[79], 1);
  EXPECT_EQ(targets[1].value.data<float>()[9], 2);
}

TEST(LoadByName, AWrapperPrefixIsRefusedStrictlyAndLeniently) {
  std::vector<NamedTensor> wrapped = file();
  for (NamedTensor& tensor : wrapped) tensor.name = "module." + tensor.name;
  for (const Matching matching : {Matching::kStrict, Matching::kLenient}) {
    const std::string text = load_error(wrapped, model(), matching);
    EXPECT_THAT(text, HasSubstr("\"w.safetensors\": 0 of 2 tensors match"));
    EXPECT_THAT(text, HasSubstr("2 missing: fc.weight, fc.bias"));
    EXPECT_THAT(text, HasSubstr("2 unexpected: module.fc.bias, module.fc.weight"));
    EXPECT_THAT(text, Not(HasSubstr("different")));
  }
}

TEST(LoadByName, ARenamedTensorIsRefused) {
  std::vector<NamedTensor> renamed = file();
  renamed[0].name = "fc.biases";
  const std::string text = load_error(renamed, model(), Matching::kStrict);
  EXPECT_THAT(text, HasSubstr("1 of 2 tensors match"));
  EXPECT_THAT(text, HasSubstr("1 missing: fc.bias"));
  EXPECT_THAT(text, HasSubstr("1 unexpected: fc.biases"));
}

TEST(LoadByName, AnotherShapeOrTypeOfTheSameSizeIsRefused) {
  std::vector<NamedTensor> changed = file();
  changed[0].value = Tensor::zeros({10}, DType::kI32);
  changed[1].value = Tensor::zeros({8, 10});
  const std::string text = load_error(changed, model(), Matching::kStrict);
  EXPECT_THAT(text, HasSubstr("2 different: fc.weight (expected f32 [10, 8], got f32 [8, 10]), "
                              "fc.bias (expected f32 [10], got i32 [10])"));
}

TEST(LoadByName, LenientLoadsWhatAgrees) {
  std::vector<NamedTensor> sources = file();
  sources[1].value = Tensor::zeros({5, 8});
  sources.push_back({"extra", Tensor::scalar(1)});
  const std::vector<NamedTensor> targets = model();
  EXPECT_EQ(load_by_name("w.safetensors", sources, targets, Matching::kLenient),
            std::vector<std::string>{"fc.bias"});
  EXPECT_EQ(targets[0].value.data<float>()[0], 0);
  EXPECT_EQ(targets[1].value.data<float>()[0], 2);
}

TEST(LoadByName, ALongListIsCut) {
  std::vector<NamedTensor> targets;
  for (int i = 0; i < 25; ++i) targets.push_back({to_text("w", i), Tensor::zeros({1})});
  const std::string text = load_error({}, targets, Matching::kStrict);
  EXPECT_THAT(text, HasSubstr("25 missing: w0, w1"));
  EXPECT_THAT(text, HasSubstr("w19, and 5 more"));
}

TEST(LoadByName, NothingIntoNothingIsFine) {
  EXPECT_TRUE(load_by_name("w.safetensors", {}, {}).empty());
  EXPECT_TRUE(load_by_name("w.safetensors", {}, {}, Matching::kLenient).empty());
}

}  // namespace
}  // namespace lockstep::train
