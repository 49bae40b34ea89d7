#include "parallel/loss_scaler.h"

#include <gtest/gtest.h>

#include <cmath>

#include "runtime/error.h"
#include "tests/support/expect_error.h"

namespace lockstep::parallel {
namespace {

using Verdict = LossScaler::Verdict;

LossScalerOptions dynamic_options() {
  return {.dynamic = true,
          .initial = 1024,
          .growth_interval = 3,
          .floor = 0.5,
          .cap = 4096,
          .most_skips_in_a_row = 100};
}

TEST(LossScaler, DoublesAfterEveryIntervalOfCleanStepsUpToTheCap) {
  LossScaler scaler(dynamic_options());
  const double expected[] = {1024, 1024, 2048, 2048, 2048, 4096, 4096, 4096, 4096, 4096};
  for (const double scale : expected) {
    EXPECT_EQ(scaler.update(false), Verdict::kTake);
    EXPECT_EQ(scaler.scale(), scale);
  }
  EXPECT_EQ(scaler.state(), (LossScalerState{.scale = 4096, .clean_steps = 1}));
}

TEST(LossScaler, HalvesAtEverySkipAndCountsFromAnew) {
  LossScaler scaler(dynamic_options());
  scaler.update(false);
  scaler.update(false);
  EXPECT_EQ(scaler.update(true), Verdict::kSkip);
  EXPECT_EQ(scaler.state(), (LossScalerState{512, 0, 1, 1}));
  EXPECT_EQ(scaler.update(true), Verdict::kSkip);
  EXPECT_EQ(scaler.state(), (LossScalerState{256, 0, 2, 2}));
  scaler.update(false);
  EXPECT_EQ(scaler.state(), (LossScalerState{256, 1, 0, 2}));
  scaler.update(false);
  scaler.update(false);
  EXPECT_EQ(scaler.state(), (LossScalerState{512, 0, 0, 2})) << "three clean ones, not those before the skip";
}

TEST(LossScaler, CollapsesWhereTheFloorDoesNotHelp) {
  LossScaler scaler(dynamic_options());
  for (double scale = 512; scale >= 0.5; scale /= 2) {
    EXPECT_EQ(scaler.update(true), Verdict::kSkip);
    EXPECT_EQ(scaler.scale(), scale);
  }
  EXPECT_EQ(scaler.update(true), Verdict::kCollapse);
  EXPECT_EQ(scaler.state(), (LossScalerState{0.5, 0, 12, 12}));
}

TEST(LossScaler, CollapsesAfterSoManySkipsInARow) {
  LossScalerOptions options = dynamic_options();
  options.initial = options.cap = 65536;
  options.most_skips_in_a_row = 17;
  LossScaler scaler(options);
  for (int skip = 1; skip < 17; ++skip) EXPECT_EQ(scaler.update(true), Verdict::kSkip) << skip;
  EXPECT_EQ(scaler.update(true), Verdict::kCollapse);
  EXPECT_EQ(scaler.scale(), 0.5) << "17 times halved";
}

TEST(LossScaler, SkipsThatAreNotInARowAreNoCollapse) {
  LossScalerOptions options = dynamic_options();
  options.most_skips_in_a_row = 2;
  options.growth_interval = 1;
  LossScaler scaler(options);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(scaler.update(true), Verdict::kSkip);
    EXPECT_EQ(scaler.update(false), Verdict::kTake);
  }
  EXPECT_EQ(scaler.state(), (LossScalerState{1024, 0, 0, 50}));
}

TEST(LossScaler, AStaticScaleStaysAndEndsTheRunAtOnce) {
  LossScaler scaler({.initial = 1000});
  EXPECT_FALSE(scaler.dynamic());
  for (int i = 0; i < 10; ++i) EXPECT_EQ(scaler.update(false), Verdict::kTake);
  EXPECT_EQ(scaler.state(), LossScalerState{.scale = 1000});
  EXPECT_EQ(scaler.update(true), Verdict::kCollapse);
  EXPECT_EQ(scaler.scale(), 1000);
}

TEST(LossScaler, GoesOnFromAState) {
  LossScaler first(dynamic_options());
  LossScaler second(dynamic_options());
  for (const bool bad : {false, true, true, false, false}) first.update(bad);
  second.restore(first.state());
  for (const bool bad : {false, true, false, false, false, true}) {
    EXPECT_EQ(second.update(bad), first.update(bad));
    EXPECT_EQ(second.state(), first.state());
  }
}

TEST(LossScaler, AStateOfOtherSettingsIsTakenWithinTheOwnOnes) {
  LossScaler scaler(dynamic_options());
  scaler.restore({.scale = 65536, .clean_steps = 2, .skips_in_a_row = 0, .skipped_steps = 9});
  EXPECT_EQ(scaler.state(), (LossScalerState{4096, 2, 0, 9}));
  scaler.restore({.scale = 0.125});
  EXPECT_EQ(scaler.scale(), 0.5);
  LossScaler fixed({.initial = 8});
  fixed.restore({.scale = 512, .skipped_steps = 3});
  EXPECT_EQ(fixed.state(), (LossScalerState{8, 0, 0, 3})) << "the count is the schedule's";
}

TEST(ScaleText, HasAllDigits) {
  EXPECT_EQ(scale_text(16777216), "16777216");
  EXPECT_EQ(scale_text(0.5), "0.5");
  EXPECT_EQ(scale_text(1000), "1000");
}

TEST(LossScaler, RefusesWhatIsNoPowerOfTwoOrOutOfOrder) {
  const auto refused = [](auto change, const char* words) {
    LossScalerOptions options = dynamic_options();
    change(options);
    test::expect_error<InvalidArgument>([&] { LossScaler{options}; }, words);
  };
  refused([](auto& options) { options.floor = 0; }, "floor: expected a power of two, got 0");
  refused([](auto& options) { options.cap = 3000; }, "cap: expected a power of two, got 3000");
  refused([](auto& options) { options.cap = HUGE_VAL; }, "cap: expected a power of two");
  refused([](auto& options) { options.initial = 0.25; }, "initial value: expected 0.5 to 4096, got 0.25");
  refused([](auto& options) { options.growth_interval = 0; }, "positive growth interval");
  refused([](auto& options) { options.most_skips_in_a_row = 0; }, "limit of skips, got 3 and 0");
}

}  // namespace
}  // namespace lockstep::parallel
