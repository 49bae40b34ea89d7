#include "train/progress.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

namespace lockstep::train {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

const ProgressState kState{.step = 250,
                           .total_steps = 1000,
                           .epoch = 2,
                           .epochs = 5,
                           .loss = 0.123456,
                           .lr = 0.05,
                           .samples_per_second = 12345.6,
                           .left = seconds(185)};

TEST(DurationText, HasTwoUnits) {
  EXPECT_EQ(duration_text(seconds(0)), "0 s");
  EXPECT_EQ(duration_text(milliseconds(59'400)), "59 s");
  EXPECT_EQ(duration_text(milliseconds(59'600)), "1 min 00 s");
  EXPECT_EQ(duration_text(seconds(185)), "3 min 05 s");
  EXPECT_EQ(duration_text(seconds(7620)), "2 h 07 min");
  EXPECT_EQ(duration_text(seconds(3 * 86400 + 4 * 3600)), "3 d 04 h");
}

TEST(DurationText, SurvivesNonsense) {
  EXPECT_EQ(duration_text(std::chrono::duration<double>(-1)), "0 s");
  EXPECT_EQ(duration_text(std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN())), "?");
  EXPECT_EQ(duration_text(std::chrono::duration<double>(std::numeric_limits<double>::infinity())),
            "115740 d 17 h");
}

TEST(ProgressLine, HasEverything) {
  EXPECT_EQ(progress_line(kState),
            "epoch 2/5  step 250/1000  loss 0.1235  lr 0.05  12346 samples/s  3 min 05 s left");
  ProgressState by_steps = kState;
  by_steps.epochs = 0;
  EXPECT_THAT(progress_line(by_steps), ::testing::StartsWith("epoch 2  step 250/1000"));
  ProgressState scaled = kState;
  scaled.loss_scale = 16777216;
  EXPECT_THAT(progress_line(scaled), HasSubstr("  lr 0.05  scale 16777216  12346 samples/s"));
}

TEST(ProgressBar, FillsTheRoomThatIsLeft) {
  EXPECT_EQ(
      progress_bar(kState, 200),
      "epoch 2/5 [#######.......................] step 250/1000  loss 0.1235  lr 0.05  12346 samples/s  "
      "3 min 05 s left");
  EXPECT_EQ(progress_bar(kState, 100).size(), 100U);
  EXPECT_THAT(progress_bar(kState, 80), Not(HasSubstr("[")));
  for (int width = 0; width < 150; ++width)
    EXPECT_LE(progress_bar(kState, width).size(), static_cast<size_t>(width));
}

TEST(ProgressBar, IsFullAtTheEndAndNeverFuller) {
  ProgressState state = kState;
  for (const int64_t step : {1000, 1001}) {
    state.step = step;
    EXPECT_THAT(progress_bar(state, 200), HasSubstr("[##############################]"));
  }
  state.total_steps = 0;
  EXPECT_THAT(progress_bar(state, 200), HasSubstr("[..............................]"));
}

/// Collects what is shown, at times that the test sets.
class ProgressOutput : public ::testing::Test {
 protected:
  ProgressOutput() : file_(std::tmpfile()) {}
  ~ProgressOutput() override { std::fclose(file_); }

  Progress shown_on(bool terminal) {
    ProgressOptions options;
    options.stream = file_;
    options.terminal = terminal;
    options.terminal_interval = milliseconds(100);
    options.line_interval = milliseconds(5000);
    return Progress(options);
  }

  void update(Progress& progress, int64_t step, int milliseconds_since_start) {
    ProgressState state = kState;
    state.step = step;
    progress.update(state, Progress::Clock::time_point(milliseconds(milliseconds_since_start)));
  }

  std::string text() {
    std::string content(static_cast<size_t>(std::ftell(file_)), '\0');
    std::rewind(file_);
    EXPECT_EQ(std::fread(content.data(), 1, content.size(), file_), content.size());
    return content;
  }

 private:
  std::FILE* file_;
};

TEST_F(ProgressOutput, InAPipeItIsAPlainLineNowAndThen) {
  Progress progress = shown_on(false);
  update(progress, 1, 0);
  update(progress, 2, 4999);
  update(progress, 3, 5000);
  update(progress, 4, 9999);
  progress.clear();
  update(progress, 1000, 10000);
  const std::string shown = text();
  EXPECT_EQ(std::count(shown.begin(), shown.end(), '\n'), 3) << shown;
  for (const char* step : {"step 1/", "step 3/", "step 1000/"}) EXPECT_THAT(shown, HasSubstr(step));
  EXPECT_THAT(shown, Not(HasSubstr("\r")));
  EXPECT_THAT(shown, Not(HasSubstr("\033")));
}

TEST_F(ProgressOutput, OnATerminalOneLineIsRedrawnAndStaysAtTheEnd) {
  Progress progress = shown_on(true);
  update(progress, 1, 0);
  update(progress, 2, 99);
  update(progress, 3, 100);
  update(progress, 1000, 101);
  const std::string shown = text();
  EXPECT_EQ(std::count(shown.begin(), shown.end(), '\r'), 3) << shown;
  EXPECT_EQ(std::count(shown.begin(), shown.end(), '\n'), 1);
  EXPECT_TRUE(shown.ends_with("\n"));
}

TEST_F(ProgressOutput, ClearTakesTheBarAwayOnce) {
  Progress progress = shown_on(true);
  progress.clear();
  update(progress, 1, 0);
  progress.clear();
  progress.clear();
  EXPECT_TRUE(text().ends_with("left\033[K\r\033[K"));
}

TEST(ProgressOnATerminal, FitsAWindowThatBecomesNarrower) {
  const int master = posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_GE(master, 0);
  ASSERT_EQ(grantpt(master), 0);
  ASSERT_EQ(unlockpt(master), 0);
  std::FILE* terminal = std::fopen(ptsname(master), "w");
  ASSERT_NE(terminal, nullptr);
  Progress progress(progress_options_for(terminal));
  for (const unsigned short columns : {120, 40}) {
    const winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    ASSERT_EQ(ioctl(master, TIOCSWINSZ, &size), 0);
    progress.update(kState, Progress::Clock::time_point(seconds(columns == 120 ? 1 : 2)));
    char text[512];
    const ssize_t count = read(master, text, sizeof text);
    ASSERT_GT(count, 0);
    EXPECT_EQ(std::string(text, static_cast<size_t>(count)),
              "\r" + progress_bar(kState, columns - 1) + "\033[K");
  }
  std::fclose(terminal);
  close(master);
}

TEST(ProgressOptions, AFileIsNotATerminal) {
  std::FILE* file = std::tmpfile();
  EXPECT_FALSE(progress_options_for(file).terminal);
  EXPECT_EQ(progress_options_for(file).stream, file);
  std::fclose(file);
}

}  // namespace
}  // namespace lockstep::train
