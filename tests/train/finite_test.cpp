#include "train/finite.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace lockstep::train {
namespace {

TEST(AllFinite, NumbersOfAllSizesAreFinite) {
  EXPECT_TRUE(all_finite(Tensor::zeros({0})));
  for (const float value :
       {0.0F, -0.0F, std::numeric_limits<float>::max(), std::numeric_limits<float>::lowest(),
        std::numeric_limits<float>::min(), std::numeric_limits<float>::denorm_min()}) {
    EXPECT_TRUE(all_finite(Tensor::full({37}, value))) << value;
  }
}

TEST(AllFinite, OneBadElementIsFoundAnywhere) {
  constexpr int64_t kCount =
      (int64_t{1} << 18) + 3;  // parts for several threads, and a rest behind the vectors
  Tensor tensor = Tensor::full({kCount}, 1);
  float* const values = tensor.data<float>();
  for (const int64_t place : {int64_t{0}, kCount / 2, kCount - 2, kCount - 1}) {
    for (const float bad : {HUGE_VALF, -HUGE_VALF, NAN, -NAN}) {
      values[place] = bad;
      EXPECT_FALSE(all_finite(tensor)) << bad << " at " << place;
      values[place] = 1;
    }
  }
  EXPECT_TRUE(all_finite(tensor));
}

}  // namespace
}  // namespace lockstep::train
