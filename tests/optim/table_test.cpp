#include "optim/table.h"

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "tests/support/expect_error.h"

namespace lockstep::optim {
namespace {

TEST(OptimTable, EveryNameMakesItsThing) {
  EXPECT_EQ(optimizer_names(), (std::vector<std::string>{"sgd", "lars", "lamb", "adamw", "lion"}));
  EXPECT_EQ(schedule_names(), (std::vector<std::string>{"constant", "multi_step", "polynomial", "cosine"}));
  for (const std::string& name : optimizer_names()) EXPECT_NE(make_optimizer(name, {}, {}), nullptr) << name;
  for (const std::string& name : schedule_names()) {
    EXPECT_EQ(make_schedule(name, {.lr = 0.5, .total_steps = 10})(0), 0.5) << name;
  }
}

TEST(OptimTable, UnknownNamesAreAnsweredWithTheList) {
  test::expect_error<ConfigError>([] { make_optimizer("sdg", {}, {}); },
                                  "[optimizer] unknown name \"sdg\"; known: sgd, lars, lamb, adamw, lion");
  test::expect_error<ConfigError>([] { make_schedule("step", {}); },
                                  "unknown name \"step\"; known: constant, multi_step, polynomial, cosine");
}

}  // namespace
}  // namespace lockstep::optim
