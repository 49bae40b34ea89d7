// What `lockstep bench allreduce` found, as numbers, table, JSON, plot and selection of algorithms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "comm/algorithms/selection.h"

namespace lockstep::launcher {

/// One all-reduce as it is measured again and again.
struct AllreduceCase {
  int ranks = 2;
  size_t nbytes = 0;
  int64_t count = 0;
  std::string dtype{};
  std::string algorithm{};  ///< a selection, or "mpi/..." for MPI_Allreduce
  std::string codec = "none";
};

struct AllreduceRow {
  AllreduceCase what;
  int64_t iterations = 0;
  double p50_us = 0;
  double p99_us = 0;
  int64_t wrong = 0;  ///< elements that verification found, on all ranks

  /// Bytes of the buffer per second, in GB/s (10^9).
  double algorithm_bandwidth() const;
  /// What crosses each rank's link if no byte is sent needlessly: 2(R-1)/R of the above, comparable over
  /// ranks and with the hardware (as nccl-tests define it, github.com/NVIDIA/nccl-tests,
  /// doc/PERFORMANCE.md).
  double bus_bandwidth() const;
};

/// The smallest value that at least `share` of the values (not none) do not exceed.
double percentile(std::vector<double> values, double share);

/// `seconds` has for each iteration the time of the slowest rank.
AllreduceRow allreduce_row(const AllreduceCase& what, const std::vector<double>& seconds, int64_t wrong);

std::string allreduce_table(const std::vector<AllreduceRow>& rows);
std::string allreduce_json_line(const AllreduceRow& row);
/// Commands for gnuplot: bus bandwidth over size, a line for each algorithm (first dtype and codec).
std::string allreduce_plot(const std::vector<AllreduceRow>& rows, const std::string& title);

/// The fastest of the table's algorithms (not "auto", not MPI) for each size, by the median time of the first
/// row's dtype and codec. Between two sizes it changes at their geometric mean, and only where the other one
/// is 5 % faster, so that noise makes no ranges. `tree_order_only` leaves the others out.
comm::Selection fastest_selection(const std::vector<AllreduceRow>& rows, bool tree_order_only);

}  // namespace lockstep::launcher
