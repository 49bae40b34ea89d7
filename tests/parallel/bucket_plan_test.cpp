#include "parallel/bucket_plan.h"

#include <gtest/gtest.h>

#include "runtime/error.h"

namespace lockstep::parallel {
namespace {

TEST(BucketPlan, FillsBucketsInReverseOrderOfRegistration) {
  const BucketPlan plan = plan_buckets({16, 32, 16, 48}, {.bucket_bytes = 256, .first_bucket_bytes = 256});
  ASSERT_EQ(plan.buckets.size(), 2U);
  EXPECT_EQ(plan.buckets[0].parameters, (std::vector<int>{3, 2}));
  EXPECT_EQ(plan.buckets[1].parameters, (std::vector<int>{1, 0}));
  EXPECT_EQ(plan.offsets, (std::vector<int64_t>{96, 64, 48, 0}));
  EXPECT_EQ(plan.bucket_of, (std::vector<int>{1, 1, 0, 0}));
  EXPECT_EQ(plan.count, 112);
}

TEST(BucketPlan, ParametersStartOnCacheLines) {
  const BucketPlan plan = plan_buckets({1, 17, 10}, {});
  EXPECT_EQ(plan.offsets, (std::vector<int64_t>{48, 16, 0}));
  EXPECT_EQ(plan.count, 64);
}

TEST(BucketPlan, TheFirstBucketIsSmallerAndALargeParameterGetsItsOwn) {
  const BucketPlan plan = plan_buckets({1000, 16, 16}, {.bucket_bytes = 256, .first_bucket_bytes = 64});
  ASSERT_EQ(plan.buckets.size(), 3U);
  EXPECT_EQ(plan.buckets[0].parameters, std::vector<int>{2});
  EXPECT_EQ(plan.buckets[2].parameters, std::vector<int>{0});
  EXPECT_EQ(plan.buckets[2].count, 1008);
}

TEST(BucketPlan, BucketsCoverTheFlatMemoryWithoutGaps) {
  const BucketPlan plan =
      plan_buckets({100, 3, 50, 7, 2000, 1}, {.bucket_bytes = 512, .first_bucket_bytes = 128});
  int64_t next = 0;
  for (const Bucket& bucket : plan.buckets) {
    EXPECT_EQ(bucket.offset, next);
    next += bucket.count;
  }
  EXPECT_EQ(next, plan.count);
}

TEST(BucketPlan, SizesMustBePositive) {
  EXPECT_THROW(plan_buckets({1}, {.bucket_bytes = 0}), InvalidArgument);
}

}  // namespace
}  // namespace lockstep::parallel
