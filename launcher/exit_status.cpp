#include "launcher/exit_status.h"

#include "runtime/error.h"

namespace lockstep::launcher {

ExitStatus status_of(const std::exception& error) {
  if (dynamic_cast<const ConfigError*>(&error) != nullptr) return kUsageError;
  if (dynamic_cast<const DataError*>(&error) != nullptr) return kDataFault;
  if (dynamic_cast<const CommError*>(&error) != nullptr) return kCommunicationLost;
  return kInternalError;
}

}  // namespace lockstep::launcher
