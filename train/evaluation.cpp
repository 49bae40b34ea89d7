#include "train/evaluation.h"

#include "data/sampler.h"
#include "ops/accuracy/accuracy.h"
#include "ops/cross_entropy/cross_entropy.h"
#include "parallel/slot_sums.h"
#include "parallel/step_plan.h"
#include "runtime/autograd.h"
#include "runtime/error.h"

namespace lockstep::train {

EvaluationResult evaluate(models::Module& model, const data::DataSource& source,
                          comm::Communicator& communicator, const EvaluationOptions& options) {
  const NoGrad no_grad;
  const parallel::StepPlan plan = parallel::plan_step(options.samples, options.batch, options.virtual_ranks,
                                                      communicator.size(), communicator.rank());
  const data::Sampler sampler({.size = options.samples, .shuffle = false});
  data::Loader loader(source, sampler, options.augment, options.loader);
  for (const parallel::Slot& slot : plan.slots) {
    for (const auto& micro_batch : slot.micro_batches)
      loader.submit({{0, micro_batch.first, micro_batch.count}});
  }
  enum : size_t { kLoss, kWeight, kCorrect, kWidth };
  parallel::SlotSums sums(kWidth, options.virtual_ranks, communicator);
  for (const parallel::Slot& slot : plan.slots) {
    const std::span<double> row = sums.row(slot.index);
    for (size_t i = 0; i < slot.micro_batches.size(); ++i) {
      const data::Batch batch = loader.next();
      const Tensor logits = model.forward(batch.inputs, {});
      const auto loss = ops::cross_entropy(logits, batch.targets);
      row[kLoss] += loss.sum_value;
      row[kWeight] += loss.weight;
      row[kCorrect] += static_cast<double>(ops::count_correct(logits, batch.targets));
      communicator.poll();
    }
  }
  const std::vector<double> total = sums.reduce("evaluation's sums");
  check<DataError>(total[kWeight] > 0, "evaluation", "no sample of '", source.spec().name,
                   "' has a label that counts");
  return {total[kLoss] / total[kWeight], total[kCorrect] / total[kWeight],
          static_cast<int64_t>(total[kWeight])};
}

}  // namespace lockstep::train
