#include "launcher/allreduce_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "train/gnuplot.h"

namespace lockstep::launcher {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

AllreduceRow row_of(size_t nbytes, const std::string& algorithm, double microseconds, int ranks = 4) {
  return allreduce_row({.ranks = ranks,
                        .nbytes = nbytes,
                        .count = static_cast<int64_t>(nbytes) / 4,
                        .dtype = "f32",
                        .algorithm = algorithm},
                       {microseconds * 1e-6}, 0);
}

TEST(Percentile, IsTheSmallestValueThatCoversTheShare) {
  EXPECT_EQ(percentile({3, 1, 2}, 0.5), 2);
  EXPECT_EQ(percentile({4, 3, 1, 2}, 0.5), 2);
  EXPECT_EQ(percentile({4, 3, 1, 2}, 0.51), 3);
  EXPECT_EQ(percentile({4, 3, 1, 2}, 0.99), 4);
  EXPECT_EQ(percentile({5}, 0), 5);
  std::vector<double> hundred;
  for (int i = 1; i <= 100; ++i) hundred.push_back(i);
  EXPECT_EQ(percentile(hundred, 0.99), 99);
}

TEST(AllreduceRow, HasMediansAndBandwidths) {
  const AllreduceRow row = allreduce_row({.ranks = 4, .nbytes = 1000}, {3e-6, 1e-6, 2e-6}, 7);
  EXPECT_EQ(row.iterations, 3);
  EXPECT_DOUBLE_EQ(row.p50_us, 2);
  EXPECT_DOUBLE_EQ(row.p99_us, 3);
  EXPECT_DOUBLE_EQ(row.algorithm_bandwidth(), 0.5) << "1000 bytes in 2 us";
  EXPECT_DOUBLE_EQ(row.bus_bandwidth(), 0.75);
  EXPECT_EQ(row.wrong, 7);
}

TEST(AllreduceReport, ATableLineForEachRow) {
  const std::string table = allreduce_table({row_of(1000, "direct", 2), row_of(4000, "mpi/ring", 8)});
  EXPECT_THAT(table, HasSubstr("busbw [GB/s]"));
  EXPECT_THAT(table, HasSubstr("|  1000 |   250 |   f32 |    direct |  none |     2.00 |     2.00 |"));
  EXPECT_THAT(table, HasSubstr("0.500 |        0.750 |     0 |\n"));
}

TEST(AllreduceReport, AJsonObjectForEachRow) {
  const auto line = nlohmann::json::parse(allreduce_json_line(row_of(1000, "direct", 2)));
  EXPECT_EQ(line["ranks"], 4);
  EXPECT_EQ(line["bytes"], 1000);
  EXPECT_EQ(line["count"], 250);
  EXPECT_EQ(line["algorithm"], "direct");
  EXPECT_EQ(line["codec"], "none");
  EXPECT_DOUBLE_EQ(line["busbw_gb_s"], 0.75);
  EXPECT_EQ(line["wrong"], 0);
}

TEST(AllreduceReport, GnuplotDrawsALineForEachAlgorithm) {
  const std::string folder = testing::TempDir() + "lockstep-allreduce-plot-test";
  std::filesystem::create_directories(folder);
  AllreduceRow other = row_of(1000, "other type", 2);
  other.what.dtype = "f16";
  const std::string program = allreduce_plot(
      {row_of(1000, "direct", 2), row_of(4000, "direct", 4), row_of(4000, "mpi/ring", 8), other}, "4 ranks");
  EXPECT_THAT(program, HasSubstr("1000 0.75\n4000 1.5\nEND"));
  EXPECT_THAT(program, HasSubstr("mpi/ring"));
  EXPECT_THAT(program, Not(HasSubstr("other type")));
  EXPECT_EQ(train::draw(folder, "allreduce", program, {}), "");
  EXPECT_TRUE(std::filesystem::exists(folder + "/allreduce.svg"));
  std::filesystem::remove_all(folder);
}

TEST(FastestSelection, ChangesAtTheGeometricMean) {
  const std::vector<AllreduceRow> rows{row_of(256, "direct", 1),  row_of(256, "halving_doubling", 2),
                                       row_of(1024, "direct", 2), row_of(1024, "halving_doubling", 3),
                                       row_of(4096, "direct", 9), row_of(4096, "halving_doubling", 5)};
  EXPECT_EQ(fastest_selection(rows, true).text(), "direct:0-2K;halving_doubling:2K-");
}

TEST(FastestSelection, DoesNotChangeForNoise) {
  const std::vector<AllreduceRow> rows{row_of(256, "direct", 1), row_of(256, "halving_doubling", 2),
                                       row_of(1024, "direct", 1.04), row_of(1024, "halving_doubling", 1)};
  EXPECT_EQ(fastest_selection(rows, true).text(), "direct");
}

TEST(FastestSelection, TakesOnlyWhatASelectionCanName) {
  AllreduceRow compressed = row_of(256, "halving_doubling", 0.1);
  compressed.what.codec = "fp16";
  const std::vector<AllreduceRow> rows{row_of(256, "direct", 4), row_of(256, "ring", 3),
                                       row_of(256, "auto", 2), row_of(256, "mpi/ring", 1), compressed};
  EXPECT_EQ(fastest_selection(rows, true).text(), "direct");
  EXPECT_EQ(fastest_selection(rows, false).text(), "ring");
}

TEST(FastestSelection, TakesWhatIsLeftWhereTheFirstChoiceWasNotMeasured) {
  const std::vector<AllreduceRow> rows{row_of(256, "direct", 1), row_of(256, "halving_doubling", 2),
                                       row_of(1024, "halving_doubling", 9)};
  EXPECT_EQ(fastest_selection(rows, true).text(), "direct:0-512;halving_doubling:512-");
}

}  // namespace
}  // namespace lockstep::launcher
