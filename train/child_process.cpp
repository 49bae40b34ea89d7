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

const std::vector<std::string> kEnvironment{"LC_ALL=C.UTF-8"};

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

/// Starts the program with its error output in the pipe; returns 0 or an error number.
int start(const std::vector<std::string>& command, const std::string& folder, const Pipe& pipe,
          pid_t& child) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&files, pipe.ends[1], STDERR_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  posix_spawn_file_actions_addchdir_np(&files, folder.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);

  std::vector<char*> arguments = pointers(command);
  std::vector<char*> environment = pointers(kEnvironment);
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

/// The status of a child that ends by `end`; takes its error output meanwhile.
std::optional<int> wait_until(Clock::time_point end, pid_t child, int pipe, std::string& errors) {
  while (Clock::now() < end) {
    int status = 0;
    const bool ended = ::waitpid(child, &status, WNOHANG) == child;
    drain(pipe, errors);
    if (ended) return status;
    std::this_thread::sleep_for(kPause);
  }
  return std::nullopt;
}

ChildOutcome outcome_of(int status, const std::string& errors) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {true, ""};
  if (WIFEXITED(status)) return {false, to_text("status ", WEXITSTATUS(status), first_line(errors))};
  return {false, to_text("signal ", WTERMSIG(status), first_line(errors))};
}

}  // namespace

ChildOutcome run_child(const std::vector<std::string>& command, const std::string& folder,
                       std::chrono::milliseconds deadline) {
  Pipe pipe;
  pid_t child = 0;
  if (const int error = start(command, folder, pipe, child); error != 0) {
    return {false, error == ENOENT ? "not found" : std::strerror(error)};
  }
  pipe.close_end(1);
  std::string errors;
  const auto status = wait_until(Clock::now() + deadline, child, pipe.ends[0], errors);
  if (status) return outcome_of(*status, errors);
  ::kill(child, SIGKILL);
  wait_until(Clock::now() + kKillPatience, child, pipe.ends[0], errors);
  return {false, to_text("killed, since it did not end within ", deadline.count(), " ms")};
}

}  // namespace lockstep::train
