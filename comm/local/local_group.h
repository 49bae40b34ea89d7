// Ranks as threads of one process, connected through memory.
#pragma once

#include <memory>
#include <string>

#include "comm/transport.h"

namespace lockstep::comm {

struct LocalState;

/// Thread safe. Transports keep what they share alive, so they may outlive the group.
class LocalGroup {
 public:
  explicit LocalGroup(int size);
  ~LocalGroup();
  LocalGroup(const LocalGroup&) = delete;
  LocalGroup& operator=(const LocalGroup&) = delete;

  int size() const;
  /// The transport of one rank; for each rank once.
  std::unique_ptr<Transport> transport(int rank);

  /// For a rank that ends without its transport knowing, by an exception say: all others get a CommError with
  /// the reason.
  void abort(int rank, const std::string& reason) noexcept;

 private:
  std::shared_ptr<LocalState> state_;
};

}  // namespace lockstep::comm
