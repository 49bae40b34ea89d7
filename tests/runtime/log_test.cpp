#include "runtime/log.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <regex>

#include "runtime/threads.h"

namespace lockstep::log {
namespace {

std::string captured(const std::function<void()>& call) {
  testing::internal::CaptureStderr();
  call();
  return testing::internal::GetCapturedStderr();
}

TEST(Log, LinesCarryPrefixAndLevel) {
  configure(Level::kInfo, "rank 3: ");
  const std::string text = captured([] {
    info("step ", 7, " of ", 9);
    warning("slow");
    error("{} is not a placeholder");
  });
  EXPECT_EQ(text,
            "rank 3: step 7 of 9\n"
            "rank 3: warning: slow\n"
            "rank 3: error: {} is not a placeholder\n");
  configure(Level::kInfo, "");
}

TEST(Log, EveryLineOfATextCarriesThePrefix) {
  configure(Level::kInfo, "rank 3: ");
  EXPECT_EQ(captured([] { error("two mistakes:\n  epochs = 0\n  seed = x"); }),
            "rank 3: error: two mistakes:\n"
            "rank 3:   epochs = 0\n"
            "rank 3:   seed = x\n");
  configure(Level::kInfo, "");
}

TEST(Log, LinesBelowTheLevelAreDropped) {
  configure(Level::kWarning, "");
  EXPECT_EQ(captured([] { info("dropped"); }), "");
  EXPECT_EQ(captured([] { warning("kept"); }), "warning: kept\n");
  configure(Level::kDebug, "");
  EXPECT_EQ(captured([] { write(Level::kDebug, "kept"); }), "debug: kept\n");
  configure(Level::kInfo, "");
  EXPECT_EQ(captured([] { write(Level::kDebug, "dropped"); }), "");
}

TEST(Log, RanksInOneProcessKeepTheirPrefixes) {
  const std::string text = captured([] {
    start_thread("rank 0", [] {
      set_thread_prefix("rank 0: ");
      start_thread("rank 1", [] {
        set_thread_prefix("rank 1: ");
        info("b");
      }).join();
      info("a");
    }).join();
    info("main");
  });
  EXPECT_EQ(text, "rank 1: b\nrank 0: a\nmain\n");
}

TEST(Log, FileGetsEveryLineWithItsTime) {
  const std::string path = testing::TempDir() + "lockstep_log_test.log";
  std::filesystem::remove(path);
  configure(Level::kInfo, "");
  add_file(path);
  EXPECT_EQ(captured([] { info("to both"); }), "to both\n");
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  EXPECT_TRUE(std::regex_match(line, std::regex(R"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} to both)"))) << line;
}

TEST(Log, FileThatCannotBeOpenedIsNamed) {
  try {
    add_file("/dev/null/train.log");
    FAIL() << "no exception";
  } catch (const Error& failure) {
    EXPECT_NE(std::string(failure.what()).find("/dev/null/train.log"), std::string::npos) << failure.what();
  }
}

}  // namespace
}  // namespace lockstep::log
