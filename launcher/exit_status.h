// What a process tells its launcher. The numbers are those of sysexits.h, so that job scripts can tell apart
// what to do.
#pragma once

#include <exception>

namespace lockstep::launcher {

enum ExitStatus : int {
  kDone = 0,
  kRunsDiffer = 1,          ///< the answer of `lockstep compare`
  kUsageError = 64,         ///< command line or configuration
  kDataFault = 65,          ///< a data file
  kCommunicationLost = 69,  ///< a peer is missing, late or at another call
  kInternalError = 70,      ///< anything else
  kStoppedAndSaved = 75,    ///< stopped on request; start again with --resume latest
};

ExitStatus status_of(const std::exception& error);

}  // namespace lockstep::launcher
