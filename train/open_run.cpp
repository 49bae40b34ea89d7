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

std::string resume_point(const std::string& place) {
  const ResumePoint point = find_resume_point(place);
  for (const std::string& fault : point.damaged) log::warning("passed over a damaged checkpoint: ", fault);
  return point.checkpoint;
}

bool is_inside(const std::string& path, const std::string& folder) {
  return fs::weakly_canonical(path).string().starts_with(fs::weakly_canonical(folder).string() + "/");
}

}  // namespace

std::string open_run(const std::string& root, const std::string& resume, const TrainConfig& config) {
  std::string checkpoint;
  RunDirectory run{root};
  if (resume == "latest" && list_checkpoints(run.checkpoints()).empty()) {
    log::info("no checkpoint in ", root, ": starting anew");
    run = make_run_directory(root);
  } else if (!resume.empty()) {
    checkpoint = resume_point(resume == "latest" ? root : resume);
    run = is_inside(checkpoint, root) ? make_run_directory(root) : create_run_directory(root);
  } else {
    run = create_run_directory(root);
  }
  replace_file(run.config(), [&](FileWriter& writer) { writer.append(config_text(config)); });
  return checkpoint;
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
