#include "train/evaluation.h"

#include "data/sampler.h"
#include "parallel/slot_sums.h"
#include "parallel/step_plan.h"
#include "runtime/autograd.h"
#include "runtime/error.h"

namespace lockstep::train {

Measured evaluate(models::Module& model, const data::DataSource& source, const Objective& objective,
                  comm::Communicator& communicator, const EvaluationOptions& options) {
  const NoGrad no_grad;
  const Objective measured = objective.for_evaluation();
  const parallel::StepPlan plan = parallel::plan_step(options.samples, options.batch, options.virtual_ranks,
                                                      communicator.size(), communicator.rank());
  const data::Sampler sampler({.size = options.samples, .shuffle = false});
  data::Loader loader(source, sampler, options.augment, options.loader);
  for (const parallel::Slot& slot : plan.slots) {
    for (const auto& micro_batch : slot.micro_batches)
      loader.submit({{0, micro_batch.first, micro_batch.count}});
  }
  parallel::SlotSums sums(measured.width(), options.virtual_ranks, communicator);
  for (const parallel::Slot& slot : plan.slots) {
    for (size_t i = 0; i < slot.micro_batches.size(); ++i) {
      const data::Batch batch = loader.next();
      measured.measure(batch, models::forward(model, batch.inputs, {.compute = options.compute}),
                       sums.row(slot.index));
      communicator.poll();
    }
  }
  const Measured means = measured.means(sums.reduce("evaluation's sums"));
  check<DataError>(means.weight > 0, "evaluation", "no sample of '", source.spec().name,
                   "' has a target that counts");
  return means;
}

}  // namespace lockstep::train
