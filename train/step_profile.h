// What the events of some steps add up to: time and work per operation, and the phases of a step.
#pragma once

#include <string>
#include <vector>

#include "runtime/profile.h"

namespace lockstep::train {

/// An operation forward or its gradient, per step.
struct OperationCost {
  std::string name;
  bool backward = false;
  double calls = 0;
  double seconds = 0;
  profile::Work work = {};
  std::string layer = {};    ///< the one that takes most of the time; "": it belongs to no layer
  double layer_seconds = 0;  ///< of that layer
};

/// A phase of a step. Phases exclude each other: forward is without the wait for data.
struct PhaseCost {
  std::string name;             ///< "data", "forward", "backward", "communication", "optimizer", "other"
  std::vector<double> seconds;  ///< of each step
};

struct StepProfile {
  std::vector<double> steps;              ///< seconds of each
  std::vector<PhaseCost> phases;          ///< always these six, in this order
  std::vector<OperationCost> operations;  ///< the costliest first
  profile::Work work;                     ///< of all operations of a step
};

/// From the lane of the thread that trains. Only what lies within steps counts: evaluations do not. The parts
/// of an operation count with it.
StepProfile summarize(const std::vector<profile::Event>& events);

/// Of no values: 0. Of an even number the mean of the two in the middle.
double median(std::vector<double> values);

}  // namespace lockstep::train
