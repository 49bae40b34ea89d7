#include "parallel/finite.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "tests/support/run_ranks.h"

namespace lockstep::parallel {
namespace {

TEST(AllFinite, NumbersOfAllSizesAreFinite) {
  EXPECT_TRUE(all_finite({}));
  for (const float value :
       {0.0F, -0.0F, std::numeric_limits<float>::max(), std::numeric_limits<float>::lowest(),
        std::numeric_limits<float>::min(), std::numeric_limits<float>::denorm_min()}) {
    EXPECT_TRUE(all_finite(std::vector<float>(37, value))) << value;
  }
}

TEST(AllFinite, OneBadElementIsFoundAnywhere) {
  constexpr size_t kCount =
      (size_t{1} << 18) + 3;  // parts for several threads, and a rest behind the vectors
  std::vector<float> values(kCount, 1);
  for (const size_t place : {size_t{0}, kCount / 2, kCount - 2, kCount - 1}) {
    for (const float bad : {HUGE_VALF, -HUGE_VALF, NAN, -NAN}) {
      values[place] = bad;
      EXPECT_FALSE(all_finite(values)) << bad << " at " << place;
      values[place] = 1;
    }
  }
  EXPECT_TRUE(all_finite(values));
}

TEST(FirstNonFinite, LooksAtParametersInOrder) {
  Parameter a{"a", Tensor::full({3}, 1), {}};
  Parameter b{"b", Tensor::full({3}, 1), {}};
  EXPECT_EQ(first_nonfinite({}), kNoTensor);
  EXPECT_EQ(first_nonfinite({&a, &b}), kNoTensor);
  b.value.data<float>()[2] = NAN;
  EXPECT_EQ(first_nonfinite({&a, &b}), 1);
  a.value.data<float>()[0] = HUGE_VALF;
  EXPECT_EQ(first_nonfinite({&a, &b}), 0);
}

/// What all ranks find, each with a first bad tensor of its own.
void expect_found(const std::vector<int64_t>& firsts, int64_t summed, int64_t tensor,
                  const std::vector<int>& ranks) {
  test::run_ranks(static_cast<int>(firsts.size()), [&](comm::Communicator& communicator) {
    const NonFinite found =
        find_nonfinite(communicator, firsts[static_cast<size_t>(communicator.rank())], summed);
    EXPECT_EQ(found.tensor, tensor);
    EXPECT_EQ(found.ranks, ranks);
  });
}

TEST(FindNonFinite, TheFirstTensorOfAnyRankAndTheRanksThatHaveIt) {
  expect_found({kNoTensor, 7, kNoTensor, 2}, kNoTensor, 2, {3});
  expect_found({5, 7, 5, kNoTensor}, 5, 5, {0, 2});
  expect_found({kNoTensor, kNoTensor, kNoTensor, kNoTensor}, 4, 4, {});
  expect_found({kNoTensor, 7, kNoTensor, kNoTensor}, 4, 4, {});
  expect_found({0}, 0, 0, {0});
  expect_found({kNoTensor, kNoTensor}, kNoTensor, kNoTensor, {});
}

TEST(PlaceText, NamesRanksUntilThereAreTooMany) {
  const auto text = [](int count, int ranks) {
    NonFinite found{0, std::vector<int>(static_cast<size_t>(count))};
    std::iota(found.ranks.begin(), found.ranks.end(), 1);
    return place_text(found, ranks);
  };
  EXPECT_EQ(text(0, 8), "only in the sum of all ranks");
  EXPECT_EQ(text(1, 8), "on rank 1");
  EXPECT_EQ(text(2, 8), "on ranks 1 and 2");
  EXPECT_EQ(text(3, 8), "on ranks 1, 2 and 3");
  EXPECT_EQ(text(5, 8), "on ranks 1, 2, 3, 4 and 5");
  EXPECT_EQ(text(6, 8), "on ranks 1, 2, 3, 4 and 2 more");
  EXPECT_EQ(text(4, 4), "on all 4 ranks");
  EXPECT_EQ(text(1, 1), "on rank 1");
}

}  // namespace
}  // namespace lockstep::parallel
