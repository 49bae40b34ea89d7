// `lockstep`: tools around runs.

#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>

#include "build_config.h"
#include "launcher/exit_status.h"
#include "train/compare.h"

namespace {

constexpr const char* kExamples = R"(
Examples:
  lockstep compare runs/np1 runs/np4     the first step and tensor at which two runs differ
)";

int compare(const std::string& first, const std::string& second) {
  const lockstep::train::RunComparison comparison = lockstep::train::compare_runs(first, second);
  std::cout << comparison.text << '\n';
  return comparison.equal ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("lockstep: tools around training runs", "lockstep");
  app.footer(kExamples);
  app.set_version_flag("--version", lockstep::kBuildDescription);
  app.require_subcommand(1);
  std::string first;
  std::string second;
  CLI::App* compare_command =
      app.add_subcommand("compare", "compare the metrics of two runs; status 1 if they differ");
  compare_command->add_option("first", first, "a run directory")->required();
  compare_command->add_option("second", second, "another one")->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? lockstep::launcher::kDone : lockstep::launcher::kUsageError;
  }
  try {
    return compare(first, second);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return lockstep::launcher::status_of(error);
  }
}
