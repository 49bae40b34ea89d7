#include "tests/launcher/small_run.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "launcher/train_program.h"
#include "tests/launcher/output_of.h"

namespace lockstep::launcher {

const std::string& small_run() {
  static const std::string path = [] {
    const std::string folder = testing::TempDir() + "lockstep-small-run-" + std::to_string(getpid());
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    std::ofstream(folder + ".textproto") << R"(
      model { name: "cnn" hidden: [4, 8, 8] }
      data { name: "synthetic" classes: 3
             synthetic { train_samples: 60 test_samples: 20 height: 8 width: 8 } }
      global_batch: 20 micro_batch: 10 epochs: 3 threads: 1)";
    Arguments arguments({"train", folder + ".textproto", "--output", folder});
    const Printed printed = output_of([&] { return run_train(arguments.count(), arguments.values()); });
    EXPECT_EQ(printed.status, 0) << printed.err;
    return folder;
  }();
  return path;
}

}  // namespace lockstep::launcher
