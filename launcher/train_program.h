// The program `train`: one rank of a training run. A program of your own is the same with its own models,
// data, losses, metrics or optimizers:
//
//     int main(int argc, char** argv) {
//       lockstep::train::Extensions own;
//       own.models.push_back({"my_net", make_my_net});
//       return lockstep::launcher::run_train(argc, argv, own);
//     }
#pragma once

#include "train/extensions.h"

namespace lockstep::launcher {

/// Reads the command line, trains, and returns the exit status; errors are printed. To be called once, by
/// main(), before any other thread is started.
int run_train(int argc, char** argv, const train::Extensions& own = {});

}  // namespace lockstep::launcher
