// An exponential moving average of the weights, which often generalises better than the last ones (Polyak and
// Juditsky 1992; in this form Szegedy et al. 2016, "Rethinking the Inception Architecture", section 8):
//
//     average <- decay * average + (1 - decay) * weight       after every step that is not skipped
//
// Each operation is rounded to f32, the coefficients once.
#pragma once

#include <vector>

#include "runtime/parameter.h"

namespace lockstep::train {

class WeightAverage {
 public:
  /// The parameters must outlive it; their memory must not move any more. decay in (0, 1).
  WeightAverage(std::vector<Parameter*> parameters, double decay);

  /// Begins anew, at the weights as they are.
  void reset();
  void update();
  /// By parameter name; views of the live memory.
  const std::vector<NamedTensor>& state() const { return averages_; }

  /// While it lives, the parameters hold the average.
  class InUse {
   public:
    explicit InUse(WeightAverage* average);  ///< null: does nothing
    ~InUse();
    InUse(const InUse&) = delete;
    InUse& operator=(const InUse&) = delete;

   private:
    WeightAverage* average_;
  };

 private:
  void swap();

  std::vector<Parameter*> parameters_;
  std::vector<NamedTensor> averages_;
  float decay_;
  float rest_;
};

}  // namespace lockstep::train
