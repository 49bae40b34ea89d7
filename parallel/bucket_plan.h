// Where each parameter lies in flat memory, and which parameters are reduced together. A pure function of the
// parameter list, so every rank has the same plan without a word.
#pragma once

#include <cstdint>
#include <vector>

namespace lockstep::parallel {

/// Parameters start on cache lines.
inline constexpr int64_t kAlignment = 16;  // floats

/// A range of the flat memory that is reduced in one collective.
struct Bucket {
  int64_t offset = 0;           ///< in elements
  int64_t count = 0;            ///< padding included
  std::vector<int> parameters;  ///< positions in the parameter list, in order of memory
};

struct BucketPlan {
  std::vector<Bucket> buckets;   ///< in the order of their launch
  std::vector<int64_t> offsets;  ///< of each parameter in the flat memory, in elements
  std::vector<int> bucket_of;    ///< the bucket of each parameter
  int64_t count = 0;             ///< elements of the flat memory
};

struct BucketOptions {
  /// Upper limit of a bucket; a larger parameter gets its own. Larger: fewer collectives, less overlap.
  int64_t bucket_bytes = int64_t{25} << 20;
  /// Limit of the first bucket, small so that communication starts early.
  int64_t first_bucket_bytes = int64_t{1} << 20;
};

/// Fills buckets in reverse order of registration, which is about the order in which backward finishes
/// gradients.
BucketPlan plan_buckets(const std::vector<int64_t>& parameter_counts, const BucketOptions& options);

}  // namespace lockstep::parallel
