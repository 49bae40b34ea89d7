#include "train/fault.h"

#include <unistd.h>

#include <csignal>

#include "runtime/error.h"

namespace lockstep::train {

void inject_fault(const TrainConfig::Fault& fault, comm::Communicator& communicator, int64_t step) {
  if (fault.rank() != communicator.rank() || fault.step() != step) return;
  switch (fault.kind()) {
    case TrainConfig::Fault::NONE:
      return;
    case TrainConfig::Fault::THROW:
      throw Error(to_text("[fault] thrown on purpose at step ", step));
    case TrainConfig::Fault::EXIT:
      _exit(3);
    case TrainConfig::Fault::KILL:
      std::raise(SIGKILL);
      return;
    case TrainConfig::Fault::STOP:
      std::raise(SIGSTOP);
      return;
    case TrainConfig::Fault::HANG:
      for (;;) pause();
    case TrainConfig::Fault::MISMATCH:
      communicator.barrier({.label = "fault on purpose"});
      return;
  }
}

}  // namespace lockstep::train
