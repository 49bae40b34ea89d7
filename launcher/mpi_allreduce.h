// MPI_Allreduce by each algorithm that MPI has, as a baseline.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "comm/buffer.h"

namespace lockstep::launcher {

/// Open MPI's component "tuned" reads which algorithm is forced when a communicator is made, from a variable
/// that MPI's tool interface (MPI 4.0, chapter 15.3) sets: so each algorithm has a communicator of its own.
/// Where MPI has no such variable, only its own choice is there.
class MpiAllreduce {
 public:
  /// Before MPI starts: lets algorithms be forced. Its own choice stays as it is.
  static void prepare();

  /// Collective, among all ranks; MPI must have started.
  MpiAllreduce();
  /// Collective, before MPI ends; does nothing after an error.
  ~MpiAllreduce();
  MpiAllreduce(const MpiAllreduce&) = delete;
  MpiAllreduce& operator=(const MpiAllreduce&) = delete;

  /// "mpi/default" (MPI's own choice), "mpi/ring", ...
  const std::vector<std::string>& names() const { return names_; }
  static bool supports(DType dtype);
  /// Blocking; in place. At most 2^31 - 1 elements of a type that it supports.
  void sum(size_t algorithm, const comm::Buffer& data) const;

 private:
  void add(const std::string& name);
  void add_forced();

  std::vector<std::string> names_;
  struct Communicators;  // of MPI's type, so that no includer needs MPI's header
  std::unique_ptr<Communicators> communicators_;
};

}  // namespace lockstep::launcher
