// The program `lockstep`: tools around training runs. A program whose `train` has models or data of its own
// builds this one with them too, to evaluate and predict.
#pragma once

#include "train/extensions.h"

namespace lockstep::launcher {

/// Reads the command line, runs one of the tools, and returns the exit status; errors are printed.
int run_lockstep(int argc, char** argv, const train::Extensions& own = {});

}  // namespace lockstep::launcher
