// Pictures of a run: loss, metrics and learning rate over its steps, drawn by gnuplot from metrics.jsonl.
#pragma once

#include <string>
#include <vector>

#include "train/gnuplot.h"
#include "train/metrics_file.h"
#include "train/run_directory.h"

namespace lockstep::train {

struct CurveOptions {
  std::string title;
  GnuplotOptions gnuplot = {};
};

/// A gnuplot program with the data in it, which draws curves.svg and curves.png: a panel for the loss, for
/// each further field "eval_<name>" (with the training's "<name>"), and for the learning rate. Training is
/// shown as the mean over at most kCurvePoints equal spans, with the range that each covers; values that are
/// not finite are left out. Empty where no line tells of a training step.
std::string curves_program(const std::vector<MetricsLine>& lines, const std::string& title);

constexpr size_t kCurvePoints = 250;

/// Writes curves.gnuplot into the run directory and lets gnuplot draw. Whether it did: pictures are extras,
/// so whatever goes wrong is one line in the log.
bool draw_curves(const RunDirectory& run, const CurveOptions& options);

}  // namespace lockstep::train
