#include "train/run_directory.h"

#include <filesystem>

#include "runtime/error.h"
#include "train/checkpoint.h"

namespace lockstep::train {

namespace fs = std::filesystem;

RunDirectory make_run_directory(const std::string& root) {
  std::error_code error;
  fs::create_directories(root, error);
  check<ConfigError>(!error, "output", "cannot make the folder \"", root, "\": ", error.message());
  return {root};
}

RunDirectory create_run_directory(const std::string& root) {
  const RunDirectory run{root};
  for (const std::string& path : {run.metrics(), run.model(), run.checkpoints()}) {
    check<ConfigError>(!fs::exists(path), "output", '"', root, "\" holds a run already (", path,
                       "); go on with it by --resume latest, or choose another --output");
  }
  return make_run_directory(root);
}

ResumePoint find_resume_point(const std::string& place) {
  if (fs::exists(place + "/manifest.json")) {
    verify_checkpoint(place);
    return {place, {}};
  }
  const std::string inner = RunDirectory{place}.checkpoints();
  const CheckpointSearch search = find_newest_checkpoint(fs::exists(inner) ? inner : place);
  if (search.newest) return {search.newest->path, search.damaged};
  std::string text;
  for (const std::string& damage : search.damaged) text += "\n  " + damage;
  throw DataError(to_text("[resume] no ", search.damaged.empty() ? "" : "undamaged ", "checkpoint in \"",
                          place, '"', text.empty() ? "" : ":", text));
}

}  // namespace lockstep::train
