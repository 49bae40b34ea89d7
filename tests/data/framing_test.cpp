#include "data/framing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace lockstep::data {
namespace {

Framing random_framing(int64_t sample) {
  return {.options = {.random = true}, .seed = 7, .epoch = 2, .sample = sample};
}

TEST(Framing, TheMiddleIsASquare) {
  EXPECT_EQ(choose_box({}, 256, 320), (Box{16, 48, 224, 224}));
  EXPECT_EQ(choose_box({.options = {.center = 1}}, 28, 28), (Box{0, 0, 28, 28}));
  EXPECT_EQ(choose_box({.options = {.center = 1}}, 5, 9), (Box{0, 2, 5, 5}));
  EXPECT_EQ(choose_box({}, 1, 1), (Box{0, 0, 1, 1}));
  EXPECT_EQ(choose_box({.options = {.center = 0.01}}, 10, 10), (Box{4, 4, 1, 1}));
}

TEST(Framing, RandomPartsKeepTheirLimits) {
  double smallest = 1;
  double largest = 0;
  for (int64_t sample = 0; sample < 2000; ++sample) {
    const Box box = choose_box(random_framing(sample), 300, 400);
    ASSERT_GE(box.top, 0);
    ASSERT_GE(box.left, 0);
    ASSERT_LE(box.top + box.height, 300);
    ASSERT_LE(box.left + box.width, 400);
    const double area = static_cast<double>(box.height * box.width) / (300 * 400);
    const double aspect = static_cast<double>(box.width) / static_cast<double>(box.height);
    ASSERT_GT(aspect, 0.75 * 0.97);
    ASSERT_LT(aspect, 4.0 / 3 * 1.03);
    ASSERT_GT(area, 0.075);
    smallest = std::min(smallest, area);
    largest = std::max(largest, area);
  }
  EXPECT_LT(smallest, 0.1);
  EXPECT_GT(largest, 0.9);
}

TEST(Framing, IsAFunctionOfSeedEpochAndSample) {
  Framing framing = random_framing(1);
  EXPECT_EQ(choose_box(framing, 300, 400), choose_box(framing, 300, 400));
  std::set<int64_t> places{choose_box(framing, 3000, 4000).left};
  framing.sample = 2;
  places.insert(choose_box(framing, 3000, 4000).left);
  framing.epoch = 3;
  places.insert(choose_box(framing, 3000, 4000).left);
  framing.seed = 8;
  places.insert(choose_box(framing, 3000, 4000).left);
  EXPECT_EQ(places.size(), 4U);
}

TEST(Framing, WhatCannotFitBecomesTheLargestAllowedMiddle) {
  // Even the smallest part, 8 % of 1 x 1000, is wider than high by far more than 4 / 3.
  EXPECT_EQ(choose_box(random_framing(0), 1, 1000), (Box{0, 499, 1, 1}));
  EXPECT_EQ(choose_box(random_framing(0), 1000, 1), (Box{499, 0, 1, 1}));
  const Framing whole{.options = {.random = true, .min_area = 1, .max_area = 1}};
  EXPECT_EQ(choose_box(whole, 30, 60), (Box{0, 10, 30, 40}));
}

}  // namespace
}  // namespace lockstep::data
