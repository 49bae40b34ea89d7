#include "train/open_run.h"

#include <ctime>
#include <filesystem>

#include "runtime/log.h"
#include "train/checkpoint.h"
#include "train/config.h"
#include "train/files.h"
#include "train/run_directory.h"

namespace lockstep::train {
namespace {

namespace fs = std::filesystem;

bool is_inside(const std::string& path, const std::string& folder) {
  return fs::weakly_canonical(path).string().starts_with(fs::weakly_canonical(folder).string() + "/");
}

}  // namespace

OpenedRun open_run(const std::string& root, const std::string& resume, const TrainConfig& config) {
  const RunDirectory run = make_run_directory(root);
  // Before anything is looked at: another run may be writing here, and end while this one waits.
  OpenedRun opened{"", std::make_unique<RunLock>(root)};
  ResumePoint point;
  const bool resumes_nothing = resume == "latest" && list_checkpoints(run.checkpoints()).empty();
  if (!resume.empty() && !resumes_nothing) point = find_resume_point(resume == "latest" ? root : resume);
  const bool belongs_here = !point.checkpoint.empty() && is_inside(point.checkpoint, root);
  if (!resumes_nothing && !belongs_here) check_holds_no_run(run);

  log::add_file(run.log());
  if (resumes_nothing) log::info("no checkpoint in ", root, ": starting anew");
  for (const std::string& fault : point.damaged) log::warning("passed over a damaged checkpoint: ", fault);
  replace_file(run.config(), [&](FileWriter& writer) { writer.append(config_text(config)); });
  opened.checkpoint = point.checkpoint;
  return opened;
}

std::string new_run_name(const std::string& recipe) {
  const std::time_t now = std::time(nullptr);
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
