// How the channels of [n, c, ...] lie in memory, whatever the layout: as runs of vectors whose lanes are
// neighbouring channels, or one channel's neighbouring positions. Passes that treat every channel by its own
// numbers (normalisation) are written once over these runs.
#pragma once

#include <cstdint>

#include "ops/cpu/floats.h"
#include "runtime/tensor.h"

namespace lockstep::ops::cpu {

/// Vectors of `lanes` elements, `step` elements apart, of one group of channels; small enough for a core's
/// own cache.
struct ChannelRun {
  int64_t group;
  int64_t offset;  ///< of the first element from the tensor's first
  int64_t vectors;
  int64_t step;
  int lanes;  ///< 1 to 16
  int tail;   ///< elements behind the last vector, of a plain tensor's one channel

  /// visit(offset, lanes) for every vector.
  template <class Visit>
  void for_each(Visit visit) const {
    if (lanes == Floats::kCount) {
      for (int64_t i = 0; i < vectors; ++i) visit(offset + i * step, Floats::kCount);
    } else {
      for (int64_t i = 0; i < vectors; ++i) visit(offset + i * step, lanes);
    }
    if (tail > 0) visit(offset + vectors * step, tail);
  }
};

/// Of a dense tensor [n, c] or [n, c, h, w] in one of the layouts that has_channels() knows.
class Channels {
 public:
  explicit Channels(const Tensor& x);

  /// Runs, in the order of memory: those with the same number cover the same positions in every tensor of
  /// this shape and layout.
  int64_t run_count() const { return images_ * groups_ * runs_; }
  ChannelRun run(int64_t index) const;
  int64_t groups() const { return groups_; }
  /// All lanes of a group are positions of the same channel.
  bool one_channel() const { return width_ == 1; }
  int64_t first_channel(int64_t group) const { return one_channel() ? group : group * lanes_; }
  /// Channels of a group; lanes behind them are padding, 0 in every operand and result.
  int channels_in(int64_t group) const;
  /// What each lane of a group has of a number per channel; 0 in the padding.
  Floats of_group(const float* per_channel, int64_t group) const;
  /// How many elements of each channel a run covers.
  int64_t positions(const ChannelRun& run) const;

 private:
  int64_t channels_;
  int64_t width_;      // channels side by side: 1, a block, or all of them
  int64_t images_;     // 1 where all channels lie side by side: then they are positions of one image
  int64_t positions_;  // of an image
  int64_t groups_;
  int64_t lanes_;          // of a full vector
  int64_t run_positions_;  // of a run that is not the image's last
  int64_t runs_;           // of an image and a group
};

/// Whether Channels can describe it: plain row-major, channels last, or blocks of up to 16 channels.
bool has_channels(const Tensor& x);

}  // namespace lockstep::ops::cpu
