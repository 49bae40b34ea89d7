// Measures the bandwidth of this machine's memory and what every pass over it gets of that, in the caches and
// out of them, and prints a table. Run on a quiet machine, after a release build:
//   build/release/bin/memory
//   build/release/bin/memory --processes 2
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "benchmarks/memory/passes.h"
#include "runtime/threads.h"

namespace lockstep::benchmarks {
namespace {

struct Options {
  int processes = 1;
  int threads = 1;
  double seconds = 0.3;
  std::vector<std::string> passes;  // empty: all
};

struct WorkingSet {
  const char* name;
  int64_t bytes;
};
constexpr std::array kWorkingSets = {
    WorkingSet{"256 KiB", int64_t{1} << 18}, WorkingSet{"8 MiB", int64_t{1} << 23},
    WorkingSet{"37.5 MiB", int64_t{75} << 19}, WorkingSet{"256 MiB", int64_t{1} << 28}};

double seconds_of(int64_t calls, const std::function<void()>& action) {
  const auto start = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < calls; ++i) action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() /
         static_cast<double>(calls);
}

/// The median over groups of calls that are long enough for the clock, for `seconds` in all.
double time_of(const std::function<void()>& action, double seconds) {
  constexpr double kGroup = 1e-3;
  action();
  const auto calls = std::max<int64_t>(1, static_cast<int64_t>(kGroup / seconds_of(1, action)));
  std::vector<double> times;
  for (double total = 0; total < seconds || times.size() < 5; total += times.back() * calls) {
    times.push_back(seconds_of(calls, action));
  }
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return *middle;
}

double bandwidth(const Pass& pass, const WorkingSet& set, double seconds) {
  const int64_t count = set.bytes / pass.bytes;
  return static_cast<double>(count * pass.bytes) / time_of(pass.make(count), seconds);
}

void print_table(const Options& options) {
  configure_compute_threads(options.threads);
  std::printf("%d process(es) with %d thread(s) each; GB/s of each process, and the share of its limit's\n",
              options.processes, options.threads);
  std::printf("| pass | limit | bytes |");
  for (const WorkingSet& set : kWorkingSets) std::printf(" %s |", set.name);
  std::printf("\n|---|---|---|---|---|---|---|\n");
  std::map<std::string, std::array<double, kWorkingSets.size()>> measured;
  for (const Pass& pass : memory_passes()) {
    const bool asked_for = std::ranges::find(options.passes, pass.name) != options.passes.end();
    if (!options.passes.empty() && !asked_for) continue;
    auto& rates = measured[pass.name];
    std::printf("| %s | %s | %d |", pass.name, pass.limit, pass.bytes);
    for (size_t i = 0; i < kWorkingSets.size(); ++i) {
      rates[i] = bandwidth(pass, kWorkingSets[i], options.seconds);
      std::printf(" %.1f", rates[i] * 1e-9);
      const auto limit = measured.find(pass.limit);
      if (limit != measured.end()) std::printf(", %.0f %%", 100 * rates[i] / limit->second[i]);
      std::printf(" |");
      std::fflush(stdout);
    }
    std::printf("\n");
  }
}

/// The other processes measure the same at about the same time, and say nothing.
void run(const Options& options) {
  for (int i = 1; i < options.processes; ++i) {
    if (fork() == 0) {
      dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
      print_table(options);
      _exit(0);
    }
  }
  print_table(options);
  while (wait(nullptr) > 0) {
  }
}

}  // namespace
}  // namespace lockstep::benchmarks

int main(int argc, char** argv) {
  lockstep::benchmarks::Options options;
  CLI::App app("memory: what every pass over memory gets of the machine's bandwidth");
  app.add_option("--processes", options.processes, "that measure at the same time")
      ->check(CLI::PositiveNumber);
  app.add_option("--threads", options.threads, "of each process")->check(CLI::PositiveNumber);
  app.add_option("--seconds", options.seconds, "of timing, for each figure")->check(CLI::NonNegativeNumber);
  app.add_option("--pass", options.passes, "only these");
  CLI11_PARSE(app, argc, argv);
  lockstep::benchmarks::run(options);
}
