#include "train/run_directory.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <filesystem>
#include <thread>

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

void check_holds_no_run(const RunDirectory& run) {
  for (const std::string& path : {run.metrics(), run.model(), run.checkpoints()}) {
    check<ConfigError>(!fs::exists(path), "output", '"', run.root, "\" holds a run already (", path,
                       "); go on with it by --resume latest, or choose another --output");
  }
}

RunLock::RunLock(const std::string& root, std::chrono::milliseconds patience)
    : folder_(root, O_RDONLY | O_DIRECTORY) {
  constexpr std::chrono::milliseconds kPause{50};
  const auto end = std::chrono::steady_clock::now() + patience;
  while (::flock(folder_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return;
    check<ConfigError>(std::chrono::steady_clock::now() < end, "output", '"', root,
                       "\" is in use by another run; wait for its end, or choose another --output");
    std::this_thread::sleep_for(kPause);
  }
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
