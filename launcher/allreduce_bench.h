// Measures all-reduce by lockstep's algorithms and by MPI's, among the ranks of an mpirun.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "comm/host/host_communicator.h"
#include "launcher/allreduce_report.h"
#include "launcher/mpi_allreduce.h"

namespace lockstep::launcher {

struct AllreduceBenchOptions {
  std::vector<std::string> algorithms;  ///< selections as comm.algorithm takes them, or "auto"
  std::vector<comm::Codec> codecs{comm::Codec::kNone};  ///< others for f32 alone
  bool baselines = true;                                ///< MPI_Allreduce, too
  int rounds = 5;        ///< in each, all take their turns: drift of the machine meets all alike
  double seconds = 0.2;  ///< that each takes for one size, about
  int iterations = 10;   ///< at least, for one size
  int warmup = 3;        ///< iterations before those of a round
  bool verify = true;
};

class AllreduceBench {
 public:
  /// `largest` is the size of the greatest buffer, in bytes. Collective.
  AllreduceBench(comm::HostCommunicator& communicator, const AllreduceBenchOptions& options, size_t largest);

  /// Rows of this size and type, one for each algorithm and codec; what cannot be measured is left out: MPI's
  /// with types that it lacks, and plans that need too much scratch memory. Collective; rows are whole on
  /// every rank.
  std::vector<AllreduceRow> measure(size_t nbytes, DType dtype);

 private:
  struct Contender {
    std::string name;
    int of_mpi = -1;  ///< number in MpiAllreduce; -1: lockstep's
    comm::Codec codec = comm::Codec::kNone;
    std::vector<double> seconds{};
    int64_t wrong = 0;
  };
  std::vector<Contender> contenders(const comm::Buffer& buffer) const;
  bool fits(const std::string& algorithm, const comm::Buffer& buffer) const;
  void choose(const Contender& contender);
  void reduce(const Contender& contender, const comm::Buffer& buffer);
  int64_t verify(const Contender& contender, const comm::Buffer& buffer);
  template <class T>
  void over_all_ranks(T* values, size_t count, comm::ReduceOp op);
  void run_round(Contender& contender, const comm::Buffer& buffer);
  comm::Buffer buffer_for(const Contender& contender, const comm::Buffer& buffer) const;

  comm::HostCommunicator& communicator_;
  const AllreduceBenchOptions options_;
  std::unique_ptr<MpiAllreduce> mpi_;  // null without baselines
  std::shared_ptr<Storage> memory_;
  std::shared_ptr<Storage> mpi_memory_;  // ordinary, as a program of MPI has it
};

}  // namespace lockstep::launcher
