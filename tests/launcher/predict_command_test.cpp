#include "launcher/predict_command.h"

#include <gtest/gtest.h>
#include <png.h>

#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "tests/launcher/output_of.h"
#include "tests/launcher/small_run.h"
#include "train/safetensors.h"

namespace lockstep::launcher {
namespace {

std::string write_grey_picture(const std::string& name, uint8_t value) {
  const std::string path = testing::TempDir() + "lockstep-predict-" + name;
  png_image image;
  std::memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  image.width = 8;
  image.height = 8;
  image.format = PNG_FORMAT_GRAY;
  const std::vector<uint8_t> pixels(64, value);
  EXPECT_NE(png_image_write_to_file(&image, path.c_str(), 0, pixels.data(), 0, nullptr), 0);
  return path;
}

TEST(PredictCommand, NamesTheMostProbableClassesOfEachFile) {
  const std::string& run = small_run();
  const std::string dark = write_grey_picture("dark.png", 10);
  const std::string light = write_grey_picture("light.png", 240);
  const Printed printed = output_of([&] { return predict_command({.run = run}, {dark, light}, 2); });
  EXPECT_EQ(printed.status, 0) << printed.err;
  std::istringstream lines(printed.out);
  for (const std::string& file : {dark, light}) {
    std::string text;
    std::getline(lines, text);
    const auto line = nlohmann::json::parse(text);
    EXPECT_EQ(line["file"], file);
    ASSERT_EQ(line["top"].size(), 2U);
    EXPECT_GE(line["top"][0]["probability"], line["top"][1]["probability"]);
    EXPECT_GT(line["top"][0]["probability"], 1.0 / 3);
  }
}

TEST(PredictCommand, WeightsThatAreNotFiniteGiveAnErrorAndNoProbabilities) {
  const std::string weights = testing::TempDir() + "lockstep-predict-nan.safetensors";
  std::vector<NamedTensor> tensors = train::load_safetensors(small_run() + "/model.safetensors");
  for (NamedTensor& tensor : tensors) {
    if (tensor.name == "fc2.bias") tensor.value.fill(std::numeric_limits<double>::quiet_NaN());
  }
  train::save_safetensors(weights, tensors);
  const std::string picture = write_grey_picture("nan.png", 10);
  const Printed printed =
      output_of([&] { return predict_command({.run = small_run(), .weights = weights}, {picture}, 1); });
  EXPECT_EQ(printed.status, 65);
  EXPECT_NE(printed.out.find("outputs are not finite"), std::string::npos) << printed.out;
}

TEST(PredictCommand, AFileThatIsNoPictureHasAnErrorTheOthersAnAnswer) {
  const std::string& run = small_run();
  const std::string text = testing::TempDir() + "lockstep-predict-text.jpg";
  std::ofstream(text) << "no picture";
  const std::string good = write_grey_picture("good.png", 100);
  const Printed printed = output_of([&] {
    return predict_command({.run = run}, {text, "/nowhere.jpg", good}, 1);
  });
  EXPECT_EQ(printed.status, 65);
  std::istringstream lines(printed.out);
  std::string line;
  std::getline(lines, line);
  EXPECT_TRUE(nlohmann::json::parse(line).contains("error")) << line;
  std::getline(lines, line);
  EXPECT_NE(line.find("cannot be opened"), std::string::npos) << line;
  std::getline(lines, line);
  EXPECT_EQ(nlohmann::json::parse(line)["top"].size(), 1U);
}

}  // namespace
}  // namespace lockstep::launcher
