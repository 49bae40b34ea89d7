#include "train/event_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "tests/support/expect_error.h"
#include "tests/train/event_records.h"
#include "tests/train/temporary_folder.h"

namespace lockstep::train {
namespace {

std::string hex(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(static_cast<unsigned char>(byte)));
    text += digits;
  }
  return text;
}

TEST(EventFile, TheChecksumIsTheMaskedCastagnoli) {
  EXPECT_EQ(masked_crc32c("123456789"), 0xc78ab0e5U);  // CRC-32C e3069283
}

// Bytes as TensorBoard's own writer makes them.
TEST(EventFile, RecordsAreTensorBoards) {
  tensorboard::Event version;
  version.set_wall_time(1);
  version.set_file_version("brain.Event:2");
  EXPECT_EQ(hex(event_record(version)),
            "1800000000000000a37f4b2209000000000000f03f1a0d627261696e2e4576656e743a3286bf577a");
  tensorboard::Event loss;
  loss.set_wall_time(1);
  loss.set_step(1);
  loss.mutable_summary()->add_value()->set_tag("loss");
  loss.mutable_summary()->mutable_value(0)->set_simple_value(0.5);
  EXPECT_EQ(hex(event_record(loss)),
            "1a00000000000000129bd82d09000000000000f03f10012a0d0a0b0a046c6f7373150000003f27f95db1");
}

TEST(EventFile, HoldsVersionStartAndScalars) {
  const TemporaryFolder folder;
  const double before =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  std::string path;
  {
    EventFile file(folder.path("events"), 4);
    path = file.path();
    file.write(4, {{"train/loss", 0.5}, {"train/lr", std::numeric_limits<double>::quiet_NaN()}});
    file.write(5, {{"train/loss", 0.25}});
  }
  const auto events = read_event_file(path);
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[0].file_version(), "brain.Event:2");
  EXPECT_FALSE(events[0].has_step());
  EXPECT_EQ(events[1].step(), 4);
  EXPECT_EQ(events[1].session_log().status(), tensorboard::SessionLog::START);
  EXPECT_EQ(events[2].step(), 4);
  ASSERT_EQ(events[2].summary().value_size(), 2);
  EXPECT_EQ(events[2].summary().value(0).tag(), "train/loss");
  EXPECT_EQ(events[2].summary().value(0).simple_value(), 0.5F);
  EXPECT_TRUE(std::isnan(events[2].summary().value(1).simple_value()));
  EXPECT_EQ(events[3].step(), 5);
  for (const auto& event : events) {
    EXPECT_GE(event.wall_time(), before);
    EXPECT_LT(event.wall_time(), before + 60);
  }
}

TEST(EventFile, TheNameSaysWhenWhereAndWho) {
  const TemporaryFolder folder;
  const EventFile file(folder.path(), 1);
  const std::string name = std::filesystem::path(file.path()).filename().string();
  EXPECT_EQ(name.rfind("events.out.tfevents.", 0), 0U) << name;
  EXPECT_NE(name.find('.' + std::to_string(getpid()) + ".0"), std::string::npos) << name;
  EXPECT_EQ(name.find('.', 20), 30U) << "ten digits: " << name;
}

TEST(EventFile, ALaterFileHasALaterName) {
  const TemporaryFolder folder;
  std::ofstream(folder.path("events.out.tfevents.9000000000.elsewhere.17.0"));
  std::vector<std::string> paths;
  for (int i = 0; i < 3; ++i) paths.push_back(EventFile(folder.path(), 1).path());
  EXPECT_NE(paths[0].find("tfevents.9000000001."), std::string::npos) << "the clock went back";
  EXPECT_NE(paths[2].find("tfevents.9000000003."), std::string::npos);
  EXPECT_TRUE(std::is_sorted(paths.begin(), paths.end()));
}

TEST(EventFile, FlushMakesEverythingReadableAtOnce) {
  const TemporaryFolder folder;
  EventFile file(folder.path(), 1);
  EXPECT_EQ(read_event_file(file.path()).size(), 2U) << "TensorBoard sees the run from its start";
  file.write(1, {{"train/loss", 1}});
  EXPECT_EQ(read_event_file(file.path()).size(), 2U) << "not a system call for every step";
  file.flush();
  EXPECT_EQ(read_event_file(file.path()).size(), 3U);
}

TEST(EventFile, AFolderThatCannotBeMadeIsNamed) {
  const TemporaryFolder folder;
  std::ofstream(folder.path("file")) << "x";
  test::expect_error<FileError>([&] { EventFile(folder.path("file/events"), 1); }, "file/events");
}

}  // namespace
}  // namespace lockstep::train
