#include "parallel/clock_offset.h"

#include <algorithm>
#include <fstream>
#include <string>

#include "parallel/rank_zero.h"

namespace lockstep::parallel {
namespace {

constexpr int kBarriers = 15;

/// The same for all processes of a host until it starts anew, as its steady clock is.
std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  file >> id;
  return id;
}

}  // namespace

std::chrono::nanoseconds clock_offset(comm::Communicator& communicator) {
  std::vector<int64_t> mine;
  for (int i = 0; i < kBarriers; ++i) {
    communicator.barrier({.label = "alignment of clocks"});
    mine.push_back(std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
  }
  std::vector<int64_t> reference = mine;
  communicator.broadcast({reference.data(), kBarriers, DType::kI64}, 0, {.label = "alignment of clocks"})
      .wait();
  const std::string own_host = boot_id();
  const bool same_host = broadcast_text(communicator, own_host) == own_host && !own_host.empty();
  return std::chrono::nanoseconds(same_host ? 0 : median_difference(mine, reference));
}

int64_t median_difference(const std::vector<int64_t>& mine, const std::vector<int64_t>& reference) {
  std::vector<int64_t> differences;
  for (size_t i = 0; i < mine.size(); ++i) differences.push_back(mine[i] - reference[i]);
  const auto middle = differences.begin() + static_cast<std::ptrdiff_t>(differences.size() / 2);
  std::nth_element(differences.begin(), middle, differences.end());
  return *middle;
}

}  // namespace lockstep::parallel
