#include "launcher/signals.h"

#include <unistd.h>
#include <csignal>
#include <ctime>

#include "runtime/error.h"
#include "runtime/log.h"
#include "runtime/threads.h"

namespace lockstep::launcher {
namespace {

constexpr timespec kPollInterval{0, 50'000'000};

sigset_t handled_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGUSR1, SIGUSR2, SIGTERM, SIGINT, SIGCONT}) sigaddset(&signals, signal);
  return signals;
}

}  // namespace

void block_signals() {
  const sigset_t signals = handled_signals();
  ensure(pthread_sigmask(SIG_BLOCK, &signals, nullptr) == 0, "block_signals", "pthread_sigmask failed");
  std::signal(SIGPIPE, SIG_IGN);  // a closed terminal or log must not end a rank
}

SignalThread::SignalThread(train::Requests& requests, bool under_mpirun, const char* reaction)
    : requests_(requests), under_mpirun_(under_mpirun), reaction_(reaction) {
  thread_ = start_thread("signals", [this] { read_signals(); });
}

SignalThread::~SignalThread() {
  ending_ = true;
  thread_.join();
}

void SignalThread::read_signals() {
  const sigset_t signals = handled_signals();
  bool asked_to_end = false;
  while (!ending_) {
    const int signal = sigtimedwait(&signals, nullptr, &kPollInterval);
    if (signal == SIGUSR1) {
      log::info("SIGUSR1: a checkpoint follows at the end of this step");
      requests_.save = true;
    } else if (signal == SIGUSR2) {
      if (!requests_.stop.exchange(true)) log::info("SIGUSR2: ", reaction_);
    } else if (signal == SIGCONT && under_mpirun_) {
      if (!requests_.stop.exchange(true)) log::info("the launcher is ending the run: ", reaction_);
      requests_.ending = true;
    } else if (signal == SIGTERM || signal == SIGINT) {
      if (asked_to_end) _exit(128 + signal);
      asked_to_end = true;
      if (!requests_.stop.exchange(true)) log::info("signal ", signal, ": ", reaction_);
      requests_.ending = under_mpirun_;
    }
  }
}

}  // namespace lockstep::launcher
