#include "train/profiler.h"

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "parallel/clock_offset.h"
#include "parallel/rank_zero.h"
#include "runtime/error.h"
#include "runtime/log.h"
#include "train/files.h"
#include "train/timeline.h"

namespace lockstep::train {
namespace {

constexpr const char* kTrainingLane = "compute";

/// Rank 0's time on every rank's clock.
profile::Clock::time_point on_own_clock(comm::Communicator& communicator, profile::Clock::time_point time) {
  const std::chrono::nanoseconds offset = parallel::clock_offset(communicator);
  int64_t count = std::chrono::nanoseconds(time.time_since_epoch()).count();
  communicator.broadcast({&count, 1, DType::kI64}, 0, {.label = "start of the profile"}).wait();
  return profile::Clock::time_point(std::chrono::nanoseconds(count) + offset);
}

void write_trace(const std::string& path, const std::vector<std::string>& ranks,
                 const nlohmann::ordered_json& figures) {
  replace_file(path, [&](FileWriter& writer) {
    writer.append("{\"displayTimeUnit\":\"ms\",\n\"lockstep\":" + figures.dump() + ",\n\"traceEvents\":[\n");
    for (size_t rank = 0; rank < ranks.size(); ++rank) writer.append((rank == 0 ? "" : ",\n") + ranks[rank]);
    writer.append("\n]}\n");
  });
}

}  // namespace

Profiler::Profiler(const ProfileOptions& options, comm::Communicator& communicator)
    : options_(options), communicator_(communicator) {
  recorder_.lane(kTrainingLane);  // the first one, whatever thread starts first
}

void Profiler::check_place() {
  if (recorder() == nullptr) return;
  parallel::on_rank_zero(communicator_, "looking for the profile's folder", {}, [&] {
    const std::filesystem::path folder = std::filesystem::absolute(options_.file).parent_path();
    check<ConfigError>(std::filesystem::is_directory(folder), "profile", "--profile ", options_.file,
                       ": there is no folder ", folder.string());
    check<ConfigError>(!std::filesystem::is_directory(options_.file), "profile", "--profile ", options_.file,
                       " is a folder: expected the name of a file");
  });
}

void Profiler::begin_step() {
  if (recorder() != nullptr && !written_ && steps_ >= options_.skip) recorder_.start();
}

void Profiler::end_step(int threads) {
  if (recorder() == nullptr || written_) return;
  ++steps_;
  if (steps_ == options_.skip + options_.steps) write(threads);
}

void Profiler::finish(int threads) {
  if (recorder() == nullptr) return;
  const bool short_run = !written_;
  if (short_run) write(threads);
  if (communicator_.rank() != 0) return;
  if (short_run) {
    log::warning("profile: the run ended after ", steps_, " steps: expected ", options_.skip, " to skip and ",
                 options_.steps, " to profile (--profile_skip, --profile_steps)");
  }
  for (const std::string& line : tables_) log::info(line);
  log::info("profile:     ", options_.file, " (open it in ui.perfetto.dev)");
}

void Profiler::write(int threads) {
  recorder_.stop();
  written_ = true;
  const std::vector<profile::Event> events = recorder_.lane(kTrainingLane).events();
  const auto start = events.empty() ? profile::Clock::now() : events.front().start;
  const profile::Clock::time_point zero = on_own_clock(communicator_, start);
  const ProfiledRun run{measure_peaks(communicator_, threads), communicator_.size(), threads};
  const std::vector<std::string> ranks = parallel::gather_on_rank_zero(
      communicator_, trace_events(recorder_, communicator_.rank(), zero), "gathering of the profile");
  parallel::on_rank_zero(communicator_, "writing the profile", {}, [&] {
    const StepProfile summary = summarize(events);
    tables_ = profile_tables(summary, run);
    write_trace(options_.file, ranks, profile_figures(summary, run));
  });
}

}  // namespace lockstep::train
