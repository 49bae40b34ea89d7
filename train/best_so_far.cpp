#include "train/best_so_far.h"

namespace lockstep::train {

bool BestSoFar::update(double value, int64_t step) {
  const double gain = options_.higher_is_better ? value - best_.value() : best_.value() - value;
  const bool better = known() ? gain > options_.min_improvement : value == value;
  if (better) {
    best_.set_value(value);
    best_.set_step(step);
    best_.set_since(0);
  } else {
    best_.set_since(best_.since() + 1);
  }
  return better;
}

}  // namespace lockstep::train
