#include "launcher/exact_sums.h"

#include <gtest/gtest.h>

#include <vector>

namespace lockstep::launcher {
namespace {

template <class T>
class ExactSums : public ::testing::Test {};
using Types = ::testing::Types<float, Half, BFloat16, double, int64_t, int32_t, uint8_t>;
TYPED_TEST_SUITE(ExactSums, Types);

TYPED_TEST(ExactSums, AreRecognisedAndNothingElse) {
  constexpr int64_t kCount = 100;
  for (const int ranks : {2, 3, 8, 64, 128}) {
    std::vector<TypeParam> sums(kCount);
    std::vector<double> expected(kCount);
    for (int rank = 0; rank < ranks; ++rank) {
      fill_exact({sums.data(), kCount, DTypeOf<TypeParam>::value}, rank, ranks);
      for (int64_t i = 0; i < kCount; ++i) expected[i] += static_cast<double>(static_cast<float>(sums[i]));
    }
    for (int64_t i = 0; i < kCount; ++i) sums[i] = TypeParam(static_cast<float>(expected[i]));
    const comm::Buffer buffer{sums.data(), kCount, DTypeOf<TypeParam>::value};
    EXPECT_EQ(count_wrong_sums(buffer, ranks), 0) << ranks;
    sums[7] = TypeParam(static_cast<float>(expected[7] + 1));
    std::swap(sums[20], sums[21]);
    EXPECT_EQ(count_wrong_sums(buffer, ranks), expected[20] == expected[21] ? 1 : 3) << ranks;
  }
}

}  // namespace
}  // namespace lockstep::launcher
