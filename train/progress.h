// How far a run is, for somebody who watches: a line that is redrawn on a terminal, plain lines elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace lockstep::train {

struct ProgressState {
  int64_t step = 0;         ///< steps done
  int64_t total_steps = 0;  ///< of the whole run
  int64_t epoch = 0;        ///< the current one, from 1
  int64_t epochs = 0;       ///< of the whole run; 0: the run ends by steps
  double loss = 0;
  double lr = 0;
  double samples_per_second = 0;
  double loss_scale = 0;                  ///< 0: not shown
  std::chrono::duration<double> left{0};  ///< time to the end of the run, estimated
};

/// "12 s", "3 min 05 s", "2 h 07 min", "3 d 04 h".
std::string duration_text(std::chrono::duration<double> duration);

/// The state in one line of at most `width` characters, with a bar where there is room.
std::string progress_bar(const ProgressState& state, int width);

/// The state in one line for a log.
std::string progress_line(const ProgressState& state);

struct ProgressOptions {
  std::FILE* stream = stderr;
  bool terminal = false;  ///< redraw one line; else print lines
  int width = 100;        ///< of a terminal that does not know its own, characters
  std::chrono::milliseconds terminal_interval{100};
  std::chrono::milliseconds line_interval{5000};
};

/// For a stream as it is: terminal or not.
ProgressOptions progress_options_for(std::FILE* stream);

/// Belongs to one thread, rank 0's.
class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Progress(const ProgressOptions& options) : options_(options) {}
  /// Shows the state, unless the last one was shown less than an interval ago; the first and the last are
  /// always shown.
  void update(const ProgressState& state, Clock::time_point now = Clock::now());
  /// Takes the bar off the terminal, so that another line can be written; the next update draws it again.
  void clear();

 private:
  ProgressOptions options_;
  Clock::time_point last_;
  bool shown_ = false;  // anything yet
  bool drawn_ = false;  // a bar stands on the terminal
};

}  // namespace lockstep::train
