#include "parallel/bucket_plan.h"

#include <algorithm>

#include "runtime/error.h"

namespace lockstep::parallel {

BucketPlan plan_buckets(const std::vector<int64_t>& parameter_counts, const BucketOptions& options) {
  check(options.bucket_bytes > 0 && options.first_bucket_bytes > 0, "plan_buckets",
        "bucket sizes must be positive, got ", options.bucket_bytes, " and ", options.first_bucket_bytes);
  BucketPlan plan;
  plan.offsets.resize(parameter_counts.size());
  plan.bucket_of.resize(parameter_counts.size());
  int64_t limit = 0;
  for (size_t i = parameter_counts.size(); i-- > 0;) {
    const int64_t padded = (parameter_counts[i] + kAlignment - 1) / kAlignment * kAlignment;
    const bool fits = !plan.buckets.empty() && plan.buckets.back().count + padded <= limit;
    if (!fits) {
      const int64_t bytes = plan.buckets.empty() ? std::min(options.first_bucket_bytes, options.bucket_bytes)
                                                 : options.bucket_bytes;
      limit = bytes / static_cast<int64_t>(sizeof(float));
      plan.buckets.push_back({plan.count, 0, {}});
    }
    Bucket& bucket = plan.buckets.back();
    plan.offsets[i] = plan.count;
    plan.bucket_of[i] = static_cast<int>(plan.buckets.size()) - 1;
    bucket.parameters.push_back(static_cast<int>(i));
    bucket.count += padded;
    plan.count += padded;
  }
  return plan;
}

}  // namespace lockstep::parallel
