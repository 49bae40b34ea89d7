// The main program of every fuzz target: `idx_fuzz --runs 1000000 --seed 1` makes inputs of the target's
// seeds and parses each; `idx_fuzz FILE...` parses these. Same seed, same inputs, on every machine. An input
// whose outcome is new becomes one of those that further ones are made of: errors lead the way into the
// parser, without instrumentation. For coverage configure a build with clang and -D
// LOCKSTEP_SANITIZE=address,undefined,fuzzer-no-link: then libFuzzer takes this program's place.
//
// Inputs are parsed in a child process, which shares the current one with its parent: whatever way the child
// ends, the parent writes the input to TARGET-SEED-ITERATION.input, and goes on with the next in a new child.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iostream>
#include <limits>
#include <new>
#include <set>
#include <thread>

#include "runtime/error.h"
#include "runtime/log.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/target.h"

namespace lockstep::fuzz {
namespace {

using Seconds = std::chrono::duration<double>;
using Clock = std::chrono::steady_clock;

constexpr Seconds kMostTime{1};      // of the processor, for one input
constexpr Seconds kMostWaiting{60};  // by the clock: the input waits for something that never comes
constexpr uint64_t kMostFaults = 20;
constexpr size_t kMostKept = 4096;

struct Options {
  std::string target;
  uint64_t runs = 100000;
  uint64_t seed = 1;
  double seconds = std::numeric_limits<double>::infinity();
  std::vector<std::string> files;
};

/// Where a child is; in memory that its parent sees.
struct Progress {
  std::atomic<uint64_t> iteration{0};
  std::atomic<uint64_t> outcomes{0};
  std::atomic<bool> finished{false};
  size_t size = 0;
  char input[kLongestInput] = {};

  void enter(uint64_t current, const Bytes& bytes) {
    size = bytes.size();
    std::memcpy(input, bytes.data(), size);
    iteration = current;
  }
};

Progress& shared_progress() {
  void* memory = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  check<Error>(memory != MAP_FAILED, "fuzz", "no shared memory");
  return *new (memory) Progress;
}

size_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<size_t>(usage.ru_maxrss) << 10;
}

/// What the child does.
class Explorer {
 public:
  Explorer(const Options& options, Progress& progress) : options_(options), progress_(progress) {
    for (const Bytes& seed : seeds_) {
      check<Error>(seed.size() <= kLongestInput, "fuzz", "a seed has ", seed.size(), " bytes");
    }
  }

  void explore(uint64_t begin, Clock::time_point end) {
    for (uint64_t iteration = begin; iteration < options_.runs && Clock::now() < end; ++iteration) {
      Draws draws(options_.seed, iteration);
      const bool is_seed = iteration < seeds_.size();
      const Bytes input = is_seed ? seeds_[iteration] : next_input(draws);
      progress_.enter(iteration, input);
      const Bytes outcome = outcome_of(input);
      check<Error>(!is_seed || outcome.empty(), "fuzz", "a seed is ", outcome);
      keep(input, outcome);
      if (is_seed || memory_ == 0) memory_ = peak_memory();
      check<Error>(peak_memory() - memory_ <= kMostMemory, "fuzz", "takes ", peak_memory() - memory_,
                   " bytes");
      progress_.iteration = iteration + 1;
    }
    progress_.finished = true;
  }

 private:
  Bytes next_input(Draws& draws) const {
    const auto& pool = kept_.empty() || draws.one_in(2) ? seeds_ : kept_;
    const Bytes& base = draws.pick(pool);
    Bytes input = mutate(base, draws.pick(seeds_), kTarget.words, draws);
    if (kTarget.repair != nullptr && !draws.one_in(4)) input = kTarget.repair(input);
    input.resize(std::min(input.size(), kLongestInput));
    return input;
  }

  void keep(const Bytes& input, const Bytes& outcome) {
    if (!outcomes_.insert(outcome).second) return;
    progress_.outcomes = std::max<uint64_t>(progress_.outcomes, outcomes_.size());
    if (kept_.size() < kMostKept) kept_.push_back(input);
  }

  const Options& options_;
  Progress& progress_;
  const std::vector<Bytes> seeds_ = kTarget.seeds();
  std::vector<Bytes> kept_;
  std::set<Bytes> outcomes_;
  size_t memory_ = 0;  ///< when there was nothing but the seeds
};

/// Ends with status 0 when all is well.
[[noreturn]] void run_child(const Options& options, Progress& progress, uint64_t begin,
                            Clock::time_point end) {
  try {
    Explorer(options, progress).explore(begin, end);
  } catch (const std::exception& error) {
    std::cerr << "\nfault: " << error.what() << std::endl;
    _exit(1);
  }
  std::exit(0);  // the sanitizers look for leaks
}

Seconds processor_time(pid_t child) {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(child, &clock) == 0) clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// Waits for the end, and brings it about when an input takes too long. What was wrong, "" for nothing.
std::string watch(pid_t child, const Progress& progress) {
  constexpr std::chrono::milliseconds kPause{20};
  constexpr int kFewestLooks = 20;
  uint64_t iteration = 0;
  Seconds processor_start{0};
  Clock::time_point start = Clock::now();
  int looks = 0;  // a machine that was paused makes both clocks jump, but between two looks
  std::string slow;
  for (;; std::this_thread::sleep_for(kPause)) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) {
      if (!slow.empty() || status == 0) return slow;
      return WIFSIGNALED(status) ? to_text("ended by signal ", WTERMSIG(status))
                                 : to_text("ended with status ", WEXITSTATUS(status));
    }
    const Seconds processor = processor_time(child);
    if (progress.iteration != iteration) {
      iteration = progress.iteration;
      processor_start = processor;
      start = Clock::now();
      looks = 0;
    } else if (slow.empty() && !progress.finished && ++looks >= kFewestLooks &&
               (processor - processor_start > kMostTime || Clock::now() - start > kMostWaiting)) {
      slow = to_text("takes more than ", kMostTime.count(), " s, or waits");
      kill(child, SIGKILL);
    }
  }
}

void report(const Options& options, const Progress& progress, const std::string& problem) {
  const std::string file =
      to_text(options.target, '-', options.seed, '-', progress.iteration.load(), ".input");
  std::ofstream(file, std::ios::binary).write(progress.input, static_cast<std::streamsize>(progress.size));
  std::cerr << options.target << ": seed " << options.seed << ", iteration " << progress.iteration << ": "
            << problem << "; the input is in " << file << std::endl;
}

/// The number of faults.
uint64_t fuzz(const Options& options) {
  const auto start = Clock::now();
  const Seconds longest(std::min(options.seconds, 1e9));
  const auto end = start + std::chrono::duration_cast<Clock::duration>(longest);
  Progress& progress = shared_progress();
  uint64_t faults = 0;
  for (uint64_t begin = 0; begin < options.runs && faults < kMostFaults && Clock::now() < end;
       begin = progress.iteration) {
    progress.finished = false;
    const pid_t child = fork();
    check<Error>(child >= 0, "fuzz", "no child process");
    if (child == 0) run_child(options, progress, begin, end);
    const std::string problem = watch(child, progress);
    if (problem.empty()) continue;
    report(options, progress, problem);
    ++faults;
    ++progress.iteration;
  }
  std::cout << options.target << ": " << std::min(options.runs, progress.iteration.load()) << " inputs, "
            << progress.outcomes << " outcomes, " << Seconds(Clock::now() - start).count() << " s, " << faults
            << " faults" << std::endl;
  return faults;
}

void replay(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  check<Error>(file.good(), "fuzz", path, ": cannot be read");
  const Bytes input{std::istreambuf_iterator<char>(file), {}};
  const Bytes outcome = outcome_of(input);
  std::cout << path << ": " << (outcome.empty() ? "read" : outcome) << std::endl;
}

int run(int count, char** arguments) {
  Options options;
  CLI::App app("Feeds damaged files to a parser");
  app.add_option("--runs", options.runs, "How many inputs")->capture_default_str();
  app.add_option("--seed", options.seed, "Decides the inputs")->capture_default_str();
  app.add_option("--seconds", options.seconds, "Stop after that time");
  app.add_option("FILE", options.files, "Parse these instead");
  CLI11_PARSE(app, count, arguments);
  options.target = std::string(arguments[0]).substr(std::string(arguments[0]).rfind('/') + 1);
  log::configure(log::Level::kError, "");
  scratch_folder();  // this process removes it
  for (const std::string& file : options.files) replay(file);
  return options.files.empty() && fuzz(options) > 0 ? 1 : 0;
}

}  // namespace
}  // namespace lockstep::fuzz

int main(int count, char** arguments) {
  try {
    return lockstep::fuzz::run(count, arguments);
  } catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
    return 1;
  }
}
