#include "data/source.h"

namespace lockstep::data {

void check_targets(const SampleSpec& spec, const SampleRequest& request) {
  if (spec.target_dtype != DType::kI64) return;
  const auto* targets = reinterpret_cast<const int64_t*>(request.target);
  for (int64_t i = 0; i < spec.target_shape.count(); ++i) {
    const int64_t target = targets[i];
    check<DataError>((target >= 0 && target < spec.classes) || target == kIgnoredTarget, "data", spec.name,
                     ": label of sample ", request.index, ": expected 0 to ", spec.classes - 1, ", got ",
                     target);
  }
}

}  // namespace lockstep::data
