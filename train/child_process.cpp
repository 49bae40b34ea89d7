#include "train/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <thread>

#include "runtime/error.h"

namespace lockstep::train {
namespace {

using Clock = std::chrono::steady_clock;

/// Between two looks whether the child has ended.
constexpr std::chrono::milliseconds kPause{10};
/// A child that waits for a dead file system cannot even be killed.
constexpr std::chrono::seconds kKillPatience{1};

struct Pipe {
  std::array<int, 2> ends{-1, -1};
  /// Only reading never waits: who writes into a full pipe has to.
  Pipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) == 0) ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_end(size_t end) {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }
};

/// As exec wants them: ended by a null pointer.
std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

/// Where its standard input, output and errors go, and nothing else is open.
void add_files(posix_spawn_file_actions_t& files, const ChildOptions& options, const Pipe& pipe) {
  const bool keeps_output = !options.output.empty();
  const char* output = keeps_output ? options.output.c_str() : "/dev/null";
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  posix_spawn_file_actions_adddup2(&files, keeps_output ? STDOUT_FILENO : pipe.ends[1], STDERR_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  posix_spawn_file_actions_addchdir_np(&files, options.folder.c_str());
}

/// Starts the program; returns 0 or an error number.
int start(const std::vector<std::string>& command, const ChildOptions& options, const Pipe& pipe,
          pid_t& child) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  add_files(files, options, pipe);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  sigaddset(&signals, SIGPIPE);  // the only one that we ignore
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);

  std::vector<char*> arguments = pointers(command);
  std::vector<char*> environment = pointers(options.environment);
  const int error =
      ::posix_spawnp(&child, arguments[0], &files, &attributes, arguments.data(), environment.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

/// Keeps a pipe from filling up; what it held is appended.
void drain(int pipe, std::string& text) {
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t count = ::read(pipe, buffer.data(), buffer.size());
    if (count <= 0 && !(count < 0 && errno == EINTR)) return;
    if (count > 0) text.append(buffer.data(), static_cast<size_t>(count));
  }
}

std::string first_line(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string::npos) return "";
  return ": " + text.substr(begin, text.find('\n', begin) - begin);
}

bool is_set(const std::atomic<bool>* flag) {
  return flag != nullptr && *flag;
}

/// The status of a child that ends by `end` and before `stop`; takes its error output meanwhile.
std::optional<int> wait_until(Clock::time_point end, const std::atomic<bool>* stop, pid_t child, int pipe,
                              std::string& errors) {
  while (Clock::now() < end && !is_set(stop)) {
    int status = 0;
    const bool ended = ::waitpid(child, &status, WNOHANG) == child;
    drain(pipe, errors);
    if (ended) return status;
    std::this_thread::sleep_for(kPause);
  }
  return std::nullopt;
}

ChildOutcome outcome_of(int status, const std::string& errors) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {.succeeded = true, .problem = ""};
  if (WIFEXITED(status)) return {.problem = to_text("status ", WEXITSTATUS(status), first_line(errors))};
  return {.problem = to_text("signal ", WTERMSIG(status), first_line(errors))};
}

}  // namespace

ChildOutcome run_child(const std::vector<std::string>& command, const ChildOptions& options) {
  Pipe pipe;
  pid_t child = 0;
  if (const int error = start(command, options, pipe, child); error != 0) {
    return {.problem = error == ENOENT ? "not found" : std::strerror(error)};
  }
  pipe.close_end(1);
  std::string errors;
  const auto status = wait_until(Clock::now() + options.deadline, options.stop, child, pipe.ends[0], errors);
  if (status) return outcome_of(*status, errors);
  ::kill(child, SIGTERM);
  if (!wait_until(Clock::now() + options.end_patience, nullptr, child, pipe.ends[0], errors)) {
    ::kill(-child, SIGKILL);  // with those that it started
    wait_until(Clock::now() + kKillPatience, nullptr, child, pipe.ends[0], errors);
  }
  if (is_set(options.stop)) return {.stopped = true, .problem = "stopped"};
  return {.problem = to_text("killed, since it did not end within ", options.deadline.count(), " ms")};
}

}  // namespace lockstep::train
