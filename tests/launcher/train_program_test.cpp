#include "launcher/train_program.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "models/layers.h"
#include "tests/launcher/output_of.h"

namespace lockstep::launcher {
namespace {

Printed train(std::vector<std::string> words, const train::Extensions& own = {}) {
  words.insert(words.begin(), "train");
  Arguments arguments(std::move(words));
  return output_of([&] { return run_train(arguments.count(), arguments.values(), own); });
}

/// One layer.
class MyNet final : public models::Module {
 public:
  explicit MyNet(const models::ModelOptions& options)
      : head_(add_module<models::Linear>("head", options.input.count(), options.classes)) {}
  Tensor forward(const Tensor& input, const models::ForwardContext& context) override {
    return head_.forward(models::Flatten().forward(input, context), context);
  }

 private:
  models::Linear& head_;
};

std::unique_ptr<models::Module> make_my_net(const models::ModelOptions& options) {
  return std::make_unique<MyNet>(options);
}

TEST(TrainProgram, TrainsAProgramsOwnModel) {
  const std::string folder = testing::TempDir() + "lockstep-train-program-test";
  std::filesystem::remove_all(folder);
  train::Extensions own;
  own.models.push_back({"my_net", make_my_net});
  const Printed listed = train({"--list"}, own);
  EXPECT_EQ(listed.status, 0);
  EXPECT_NE(listed.out.find(" my_net"), std::string::npos) << listed.out;
  std::ofstream(folder + ".textproto") << R"(model { name: "my_net" } threads: 1 max_steps: 2)";
  const Printed trained = train({folder + ".textproto", "--output", folder}, own);
  EXPECT_EQ(trained.status, 0) << trained.err;
  EXPECT_TRUE(std::filesystem::exists(folder + "/model.safetensors"));
  EXPECT_EQ(train({folder + ".textproto", "--print_config"}).status, 64) << "without the extension";
  std::filesystem::remove_all(folder);
  std::filesystem::remove(folder + ".textproto");
}

TEST(TrainProgram, AnOwnRowMayNotTakeAKnownName) {
  train::Extensions own;
  own.models.push_back({"cnn", make_my_net});
  const Printed printed = train({"fashion_mnist", "--print_config"}, own);
  EXPECT_EQ(printed.status, 64);
  EXPECT_NE(printed.err.find("model \"cnn\" exists already"), std::string::npos) << printed.err;
}

}  // namespace
}  // namespace lockstep::launcher
