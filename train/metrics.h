// metrics.jsonl: what a run measured, a JSON object on every line, in the order of the steps. Numbers are
// written with as many digits as give back the same bits; a value that is not finite is the text "NaN",
// "Infinity" or "-Infinity".
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "train/files.h"
#include "train/weights_hash.h"

namespace lockstep::train {

/// Fields of the lines that no metric may be called by, since it would stand in their place.
inline constexpr std::array kOwnFields{"step",
                                       "epoch",
                                       "samples",
                                       "loss",
                                       "lr",
                                       "loss_scale",
                                       "skipped_steps",
                                       "wall_time",
                                       "weights_hash",
                                       "tensor_hashes",
                                       "data_seconds",
                                       "samples_per_second",
                                       "forward_seconds",
                                       "backward_seconds",
                                       "communication_seconds",
                                       "optimizer_seconds",
                                       "other_seconds",
                                       "memory_bytes",
                                       "peak_memory_bytes",
                                       "bad_samples",
                                       "count"};

/// One step: an attempt at an update of the weights, which is skipped where its gradient is not finite.
struct StepRecord {
  int64_t step = 0;                                   ///< done with this one: the first has 1
  int64_t epoch = 0;                                  ///< that the step belongs to
  int64_t samples = 0;                                ///< done since the start of the run
  double loss = 0;                                    ///< mean over the items of the step, of all ranks
  double lr = 0;                                      ///< of the update, taken or not
  double samples_per_second = 0;                      ///< of all ranks together
  double wall_time = 0;                               ///< seconds of training since the start of the run
  std::optional<WeightsHash> weights;                 ///< as "weights_hash" and "tensor_hashes"
  std::vector<std::pair<std::string, double>> other;  ///< further figures, written last
};

/// One pass over the evaluation data, after `step`.
struct EvaluationRecord {
  int64_t step = 0;
  int64_t epoch = 0;
  double loss = 0;                                           ///< as "eval_loss": mean over all items
  std::vector<std::pair<std::string, double>> metrics = {};  ///< as "eval_<name>", "eval_accuracy" say
  int64_t count = 0;        ///< as "eval_count": items, which are samples where one has one target
  int64_t bad_samples = 0;  ///< as "eval_bad_samples", unless 0: left out
};

/// Appends lines; each is handed to the system at once. A file that somebody removed is begun again, with a
/// warning. Throws FileError.
class MetricsWriter {
 public:
  explicit MetricsWriter(const std::string& path);
  void write(const StepRecord& record);
  void write(const EvaluationRecord& record);

 private:
  void write_line(const std::string& line);
  void open();
  std::string path_;
  std::optional<FileDescriptor> file_;
};

/// Cuts the file behind the last line whose step is at most `step`, so that a run resumed there continues it
/// as if it had never stopped. (A checkpoint is saved after everything that its step writes.) No file:
/// nothing to do.
void truncate_metrics(const std::string& path, int64_t step);

}  // namespace lockstep::train
