// Norms of whole parameters, for trust ratios: one pass over all of them, the same bits on any number of
// threads.
//
// A parameter is cut into blocks of kNormBlock elements, counted from its start. The squares of a block are
// added in double, those of a parameter's blocks in their order. The team divides blocks among its threads,
// never a block, so nothing depends on how many there are or on a parameter's place in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace lockstep::optim {

constexpr int64_t kNormBlock = 4096;

/// The sum of the squares, in double: element i belongs to lane i mod 8, each lane is added in order, then
/// the lanes. Finite values never overflow it.
double sum_of_squares(const float* values, int64_t count);

/// What a trust ratio is made of: the weights of a parameter, and the direction that it is to take.
struct TrustNorms {
  double weight = 0;
  double direction = 0;
};

/// The sums of squares that these are the roots of.
struct TrustSums {
  double weight = 0;
  double direction = 0;
};

class SegmentNorms {
 public:
  /// A part of a segment (here: a parameter).
  struct Block {
    size_t segment;
    int64_t begin;  ///< first element within the segment
    int64_t count;  ///< kNormBlock, or what is left of the segment
  };

  /// One segment per count of elements.
  explicit SegmentNorms(const std::vector<int64_t>& counts);

  /// The norms of every segment, 0 for an empty one. `sums` is called once for each block, on the team's
  /// threads, and must not throw.
  std::vector<TrustNorms> measure(const std::function<TrustSums(const Block&)>& sums);

 private:
  std::vector<Block> blocks_;
  std::vector<TrustSums> block_sums_;
  size_t segments_;
};

}  // namespace lockstep::optim
