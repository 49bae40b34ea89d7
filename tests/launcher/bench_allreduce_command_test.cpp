#include "launcher/bench_allreduce_command.h"

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "tests/support/expect_error.h"

namespace lockstep::launcher {
namespace {

TEST(ParseBytes, TakesUnits) {
  EXPECT_EQ(parse_bytes("4"), 4U);
  EXPECT_EQ(parse_bytes("8K"), 8192U);
  EXPECT_EQ(parse_bytes("25M"), size_t{25} << 20);
  EXPECT_EQ(parse_bytes("2G"), size_t{2} << 30);
}

TEST(ParseBytes, RefusesAnythingElse) {
  for (const char* text :
       {"", "0", "K", "-4", "4KB", "4k", "4T", "4.5M", "99999999999999999999", "9999999999999"}) {
    test::expect_error<ConfigError>([&] { parse_bytes(text); }, "expected a number of bytes");
  }
}

/// What can be told without ranks; the real thing is a system test.
TEST(BenchAllreduce, RefusesWhatItCannotMeasure) {
  test::expect_error<ConfigError>([] { bench_allreduce_command({.smallest = 8, .largest = 4}, {}); },
                                  "--min 8 is above --max 4");
  test::expect_error<ConfigError>(
      [] {
        bench_allreduce_command({.dtypes = {"f32", "f8"}}, {});
      },
      "unknown dtype \"f8\": expected one of f32, f16");
  test::expect_error<ConfigError>([] { bench_allreduce_command({.smallest = 4, .dtypes = {"f64"}}, {}); },
                                  "less than one element of f64");
  test::expect_error<ConfigError>([] { bench_allreduce_command({.codecs = {"zip"}}, {}); },
                                  "unknown codec \"zip\": expected one of none, fp16");
  BenchAllreduceOptions options;
  options.measure.algorithms = {"auto", "ring"};
  test::expect_error<ConfigError>([&] { bench_allreduce_command(options, {}); }, "\"ring\"");
}

}  // namespace
}  // namespace lockstep::launcher
