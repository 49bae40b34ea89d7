#include "runtime/error.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

template <class E>
std::string text_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const E& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Error, CheckStreamsItsPartsBehindTheOperation) {
  const auto fail = [] { check(false, "relu", "expected ", 3, ", got ", 2.5); };
  EXPECT_EQ(text_of<InvalidArgument>(fail), "[relu] expected 3, got 2.5");
}

TEST(Error, CheckThrowsTheKindThatWasAskedFor) {
  EXPECT_EQ(text_of<CommError>([] { check<CommError>(false, "barrier", "late"); }), "[barrier] late");
  EXPECT_EQ(text_of<DataError>([] { check<DataError>(false, "idx", "cut"); }), "[idx] cut");
  EXPECT_EQ(text_of<ConfigError>([] { check<ConfigError>(false, "config", "x"); }), "[config] x");
  EXPECT_EQ(text_of<DeviceError>([] { check<DeviceError>(false, "device", "x"); }), "[device] x");
}

TEST(Error, TrueConditionsPass) {
  EXPECT_NO_THROW(check(true, "relu", "never seen"));
  EXPECT_NO_THROW(ensure(true, "relu", "never seen"));
}

TEST(Error, EnsureNamesThePlaceAndIsNoCallersMistake) {
  const int line = __LINE__ + 1;
  const auto fail = [] { ensure(false, "bucket", "count is ", -1); };
  const std::string text = text_of<Error>(fail);
  EXPECT_EQ(text.find("[bucket] internal error: count is -1 ("), 0U) << text;
  EXPECT_NE(text.find(to_text("error_test.cpp:", line)), std::string::npos) << text;
  EXPECT_EQ(text_of<InvalidArgument>([] {
              try {
                ensure(false, "bucket", "x");
              } catch (const InvalidArgument&) {
                throw;
              } catch (const Error&) {
              }
            }),
            "nothing was thrown");
}

}  // namespace
}  // namespace lockstep
