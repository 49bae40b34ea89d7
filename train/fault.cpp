#include "train/fault.h"

#include <unistd.h>

#include <cmath>
#include <csignal>

#include "ops/elementwise/elementwise.h"
#include "ops/reduce/reduce.h"
#include "runtime/error.h"
#include "train/nearest_name.h"

namespace lockstep::train {
namespace {

/// The one that the fault is about.
Parameter& faulty(const TrainConfig::Fault& fault, const std::vector<Parameter*>& parameters) {
  std::vector<std::string> names;
  for (Parameter* parameter : parameters) {
    if (fault.parameter().empty() || parameter->name == fault.parameter()) return *parameter;
    names.push_back(parameter->name);
  }
  throw ConfigError(to_text("[fault] no trained parameter \"", fault.parameter(), '"',
                            known_names_hint(fault.parameter(), names)));
}

}  // namespace

void inject_fault(const TrainConfig::Fault& fault, comm::Communicator& communicator, int64_t step,
                  const std::vector<Parameter*>& parameters) {
  if (fault.rank() != communicator.rank() || fault.step() != step) return;
  switch (fault.kind()) {
    case TrainConfig::Fault::NONE:
    case TrainConfig::Fault::INFINITE_GRADIENT:  // with_faulty_gradient()
    case TrainConfig::Fault::NAN_GRADIENT:
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
    case TrainConfig::Fault::NAN_WEIGHT: {
      Tensor& value = faulty(fault, parameters).value;
      value.data<float>()[0] = NAN;
      value.bump_version();
      return;
    }
  }
}

Tensor with_faulty_gradient(const TrainConfig::Fault& fault, int rank, int64_t step,
                            const std::vector<Parameter*>& parameters, const Tensor& loss) {
  const bool infinite = fault.kind() == TrainConfig::Fault::INFINITE_GRADIENT;
  if (!infinite && fault.kind() != TrainConfig::Fault::NAN_GRADIENT) return loss;
  if (fault.rank() != rank || step < fault.step() || step - fault.step() >= fault.steps()) return loss;
  const Tensor& value = faulty(fault, parameters).value;
  Tensor gradient = Tensor::zeros(value.shape());
  gradient.data<float>()[0] = infinite ? HUGE_VALF : NAN;
  return ops::add(loss, ops::sum(ops::mul(value, gradient)));
}

}  // namespace lockstep::train
