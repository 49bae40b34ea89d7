#include "data/source.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/data/error_of.h"

namespace lockstep::data {
namespace {

TEST(Source, TargetsAreClassesOrIgnored) {
  const SampleSpec spec{.name = "three", .shape = {1}, .classes = 3, .target_shape = {4}};
  std::array<int64_t, 4> targets{0, 2, kIgnoredTarget, 1};
  SampleRequest request;
  request.index = 17;
  request.target = reinterpret_cast<std::byte*>(targets.data());
  EXPECT_NO_THROW(check_targets(spec, request));
  for (const int64_t wrong : {3, -1, 10}) {
    targets[3] = wrong;
    expect_contains(error_of<DataError>([&] { check_targets(spec, request); }),
                    "three: label of sample 17: expected 0 to 2, got " + std::to_string(wrong));
  }
}

TEST(Source, OtherTargetsThanLabelsMayBeAnything) {
  const SampleSpec spec{.name = "values", .shape = {1}, .target_shape = {1}, .target_dtype = DType::kF32};
  std::array<float, 1> target{-5};
  SampleRequest request;
  request.target = reinterpret_cast<std::byte*>(target.data());
  EXPECT_NO_THROW(check_targets(spec, request));
}

}  // namespace
}  // namespace lockstep::data
