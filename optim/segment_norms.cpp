#include "optim/segment_norms.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/threads.h"

namespace lockstep::optim {
namespace {

/// Blocks that one thread measures at least: tens of microseconds of work.
constexpr int64_t kGrain = 8;

}  // namespace

double sum_of_squares(const float* values, int64_t count) {
  constexpr int64_t kLanes = 8;  // which the compiler keeps in vector registers
  std::array<double, kLanes> lanes{};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const auto value = static_cast<double>(values[i + lane]);
      lanes[static_cast<size_t>(lane)] += value * value;
    }
  }
  for (; i < count; ++i) {
    const auto value = static_cast<double>(values[i]);
    lanes[static_cast<size_t>(i % kLanes)] += value * value;
  }
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

SegmentNorms::SegmentNorms(const std::vector<int64_t>& counts) : segments_(counts.size()) {
  for (size_t segment = 0; segment < counts.size(); ++segment) {
    for (int64_t begin = 0; begin < counts[segment]; begin += kNormBlock) {
      blocks_.push_back({segment, begin, std::min(kNormBlock, counts[segment] - begin)});
    }
  }
  block_sums_.resize(blocks_.size());
}

std::vector<TrustNorms> SegmentNorms::measure(const std::function<TrustSums(const Block&)>& sums) {
  parallel_for(static_cast<int64_t>(blocks_.size()), kGrain, [&](int64_t begin, int64_t end) {
    for (auto b = static_cast<size_t>(begin); b < static_cast<size_t>(end); ++b) {
      block_sums_[b] = sums(blocks_[b]);
    }
  });
  std::vector<TrustNorms> norms(segments_);
  for (size_t b = 0; b < blocks_.size(); ++b) {
    TrustNorms& norm = norms[blocks_[b].segment];
    norm.weight += block_sums_[b].weight;
    norm.direction += block_sums_[b].direction;
  }
  for (TrustNorms& norm : norms) norm = {std::sqrt(norm.weight), std::sqrt(norm.direction)};
  return norms;
}

}  // namespace lockstep::optim
