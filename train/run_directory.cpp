#include "train/run_directory.h"

#include <chrono>
#include <ctime>
#include <filesystem>

#include "runtime/error.h"
#include "runtime/log.h"
#include "train/checkpoint.h"
#include "train/config.h"
#include "train/files.h"

namespace lockstep::train {
namespace {

namespace fs = std::filesystem;

void create_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  check<ConfigError>(!error && fs::is_directory(folder), "output", "cannot create the run directory ", folder,
                     ": ", error ? error.message() : "it is no directory");
}

/// The newest undamaged checkpoint, "" where there is none; says which damaged ones were passed over.
std::string newest_checkpoint(const std::string& folder) {
  const CheckpointSearch search = find_newest_checkpoint(folder);
  for (const std::string& fault : search.damaged) log::warning("damaged checkpoint passed over: ", fault);
  return search.newest ? search.newest->path : "";
}

std::string checkpoint_at(const std::string& path) {
  if (fs::exists(fs::path(path) / "manifest.json")) return path;
  const std::string newest = newest_checkpoint(path + "/checkpoints");
  check<DataError>(!newest.empty(), "resume", path, " is neither a checkpoint nor a run with one");
  return newest;
}

}  // namespace

std::string open_run_directory(const std::string& folder, const std::string& resume,
                               const TrainConfig& config) {
  std::string checkpoint;
  if (resume == "latest") {
    checkpoint = newest_checkpoint(folder + "/checkpoints");
    if (checkpoint.empty()) log::info("no checkpoint in ", folder, ": starting anew");
  } else if (!resume.empty()) {
    checkpoint = checkpoint_at(resume);
  }
  const bool holds_a_run = fs::exists(fs::path(folder) / "metrics.jsonl");
  check<ConfigError>(
      resume == "latest" || !holds_a_run ||
          fs::weakly_canonical(checkpoint).string().starts_with(fs::weakly_canonical(folder).string() + "/"),
      "output", folder, " holds a run already; go on with it by --resume latest, or choose another --output");
  create_folder(folder);
  replace_file(folder + "/config.textproto", [&](FileWriter& writer) { writer.append(to_text(config)); });
  return checkpoint;
}

std::string new_run_directory(const std::string& recipe) {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm local{};
  localtime_r(&now, &local);
  char time[32];
  std::strftime(time, sizeof time, "%Y%m%d-%H%M%S", &local);
  const std::string base = "runs/" + fs::path(recipe).stem().string() + "-" + time;
  std::string name = base;
  for (int i = 2; fs::exists(name); ++i) name = base + "-" + std::to_string(i);
  return name;
}

}  // namespace lockstep::train
