#include "models/model_options.h"

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "tests/support/expect_error.h"

namespace lockstep::models {
namespace {

TEST(ModelOptions, OptionsThatAModelDoesNotReadMustNotBeSet) {
  const auto check = [](void (*set)(ModelOptions&), const std::string& name) {
    ModelOptions options{.input = {1, 2, 3}, .classes = 10, .batch_norm = true};
    EXPECT_NO_THROW(check_unread("some_model", options, {}));
    set(options);
    EXPECT_NO_THROW(check_unread("some_model", options, {"nothing", name}));
    test::expect_error<ConfigError>([&] { check_unread("some_model", options, {"nothing"}); },
                                    "[some_model] " + name + " is set, which this model does not read");
  };
  check([](ModelOptions& options) { options.hidden = {3}; }, "hidden");
  check([](ModelOptions& options) { options.dropout = 0.1; }, "dropout");
  check([](ModelOptions& options) { options.zero_gamma = true; }, "zero_gamma");
  check([](ModelOptions& options) { options.layers = 1; }, "layers");
  check([](ModelOptions& options) { options.heads = 1; }, "heads");
  check([](ModelOptions& options) { options.width = 1; }, "width");
  check([](ModelOptions& options) { options.patch = 1; }, "patch");
}

TEST(ModelOptions, NoDropoutIsWhatAModelWithoutItHas) {
  EXPECT_NO_THROW(check_unread("some_model", {.input = {1, 2, 3}, .classes = 10, .dropout = 0}, {}));
}

}  // namespace
}  // namespace lockstep::models
