#include "ops/cpu/channels.h"

#include <algorithm>

#include "ops/cpu/onednn.h"
#include "runtime/error.h"

namespace lockstep::ops::cpu {
namespace {

constexpr int64_t kVectors = 512;  // of a run: 32 KiB of f32

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

int64_t positions_of(const Tensor& x) {
  int64_t positions = 1;
  for (int d = 2; d < x.ndim(); ++d) positions *= x.dim(d);
  return positions;
}

/// How many channels lie side by side; 0: nobody knows.
int64_t channels_together(const Tensor& x) {
  if (!x.layout()) return positions_of(x) == 1 ? x.dim(1) : 1;
  return onednn::channels_together(*x.layout());
}

}  // namespace

bool has_channels(const Tensor& x) {
  const int64_t width = channels_together(x);
  return width == x.dim(1) || (width > 0 && width <= Floats::kCount);
}

Channels::Channels(const Tensor& x) : channels_(x.dim(1)), width_(channels_together(x)) {
  ensure(has_channels(x), "channels", "shape ", x.shape(), " lies in a layout that nobody knows");
  const bool together = width_ == channels_;
  images_ = together ? 1 : x.dim(0);
  positions_ = together ? x.dim(0) * positions_of(x) : positions_of(x);
  lanes_ = one_channel() ? Floats::kCount : std::min<int64_t>(width_, Floats::kCount);
  groups_ = one_channel() ? channels_ : ceil_div(channels_, lanes_);
  run_positions_ = one_channel() ? kVectors * lanes_ : kVectors;
  runs_ = ceil_div(positions_, run_positions_);
}

ChannelRun Channels::run(int64_t index) const {
  const int64_t number = index % runs_;
  const int64_t group = index / runs_ % groups_;
  const int64_t image = index / runs_ / groups_;
  const int64_t first = number * run_positions_;
  const int64_t count = std::min(run_positions_, positions_ - first);
  if (one_channel()) {
    return {.group = group,
            .offset = (image * groups_ + group) * positions_ + first,
            .vectors = count / lanes_,
            .step = lanes_,
            .lanes = Floats::kCount,
            .tail = static_cast<int>(count % lanes_)};
  }
  if (width_ == channels_) {
    return {.group = group,
            .offset = first * channels_ + group * lanes_,
            .vectors = count,
            .step = channels_,
            .lanes = channels_in(group),
            .tail = 0};
  }
  return {.group = group,
          .offset = ((image * groups_ + group) * positions_ + first) * width_,
          .vectors = count,
          .step = width_,
          .lanes = static_cast<int>(width_),
          .tail = 0};
}

int Channels::channels_in(int64_t group) const {
  return one_channel() ? 1 : static_cast<int>(std::min(lanes_, channels_ - group * lanes_));
}

Floats Channels::of_group(const float* per_channel, int64_t group) const {
  if (one_channel()) return Floats(per_channel[group]);
  return load(per_channel + first_channel(group), channels_in(group));
}

int64_t Channels::positions(const ChannelRun& run) const {
  return one_channel() ? run.vectors * run.lanes + run.tail : run.vectors;
}

}  // namespace lockstep::ops::cpu
