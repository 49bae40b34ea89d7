#include "train/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "parallel/loss_scaler.h"

namespace lockstep::train {
namespace {

constexpr int kWidestBar = 30;
constexpr int kNarrowestBar = 5;

template <class... Values>
std::string format(const char* pattern, Values... values) {
  char text[128];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

std::string epoch_text(const ProgressState& state) {
  const auto epoch = static_cast<long long>(state.epoch);
  return state.epochs > 0 ? format("epoch %lld/%lld", epoch, static_cast<long long>(state.epochs))
                          : format("epoch %lld", epoch);
}

std::string step_text(const ProgressState& state) {
  return format("step %lld/%lld", static_cast<long long>(state.step),
                static_cast<long long>(state.total_steps));
}

std::string figures_text(const ProgressState& state) {
  const std::string scale =
      state.loss_scale > 0 ? "scale " + parallel::scale_text(state.loss_scale) + "  " : "";
  return format("loss %.4f  lr %.3g  ", state.loss, state.lr) + scale +
         format("%.0f samples/s  ", state.samples_per_second) + duration_text(state.left) + " left";
}

/// What the terminal says; `otherwise` where it does not know.
int width_of(std::FILE* stream, int otherwise) {
  winsize size{};
  return ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : otherwise;
}

double part_done(const ProgressState& state) {
  if (state.total_steps <= 0) return 0;
  return std::clamp(static_cast<double>(state.step) / static_cast<double>(state.total_steps), 0.0, 1.0);
}

}  // namespace

std::string duration_text(std::chrono::duration<double> duration) {
  const double bounded = std::clamp(duration.count(), 0.0, 1e10);
  if (std::isnan(bounded)) return "?";
  const auto seconds = std::llround(bounded);
  if (seconds < 60) return format("%lld s", seconds);
  if (seconds < 3600) return format("%lld min %02lld s", seconds / 60, seconds % 60);
  if (seconds < 86400) return format("%lld h %02lld min", seconds / 3600, seconds / 60 % 60);
  return format("%lld d %02lld h", seconds / 86400, seconds / 3600 % 24);
}

std::string progress_bar(const ProgressState& state, int width) {
  const std::string before = epoch_text(state) + " ";
  const std::string after = " " + step_text(state) + "  " + figures_text(state);
  const int room = width - static_cast<int>(before.size() + after.size()) - 2;
  std::string bar;
  if (room >= kNarrowestBar) {
    const auto cells = static_cast<size_t>(std::min(room, kWidestBar));
    const auto full = static_cast<size_t>(part_done(state) * static_cast<double>(cells));
    bar = "[" + std::string(full, '#') + std::string(cells - full, '.') + "]";
  }
  return (before + bar + after).substr(0, static_cast<size_t>(std::max(width, 0)));
}

std::string progress_line(const ProgressState& state) {
  return epoch_text(state) + "  " + step_text(state) + "  " + figures_text(state);
}

ProgressOptions progress_options_for(std::FILE* stream) {
  ProgressOptions options;
  options.stream = stream;
  options.terminal = isatty(fileno(stream)) == 1;
  return options;
}

void Progress::update(const ProgressState& state, Clock::time_point now) {
  const auto interval = options_.terminal ? options_.terminal_interval : options_.line_interval;
  const bool last = state.step >= state.total_steps;
  if (shown_ && !last && now - last_ < interval) return;
  shown_ = true;
  last_ = now;
  if (options_.terminal) {
    // Back to the first column, the line, and erase what an earlier, longer one left. The last column stays
    // free: there the cursor would wrap. Windows change their size, so the width is asked for every time.
    const int width = width_of(options_.stream, options_.width);
    std::fprintf(options_.stream, "\r%s\033[K%s", progress_bar(state, width - 1).c_str(), last ? "\n" : "");
    drawn_ = !last;
  } else {
    std::fprintf(options_.stream, "%s\n", progress_line(state).c_str());
  }
  std::fflush(options_.stream);
}

void Progress::clear() {
  if (!drawn_) return;
  std::fputs("\r\033[K", options_.stream);
  std::fflush(options_.stream);
  drawn_ = false;
}

}  // namespace lockstep::train
