#include "train/trainer.h"

#include <cmath>

#include "runtime/log.h"
#include "runtime/profile.h"
#include "runtime/threads.h"
#include "train/assembly.h"
#include "train/config.h"
#include "train/config_fields.h"
#include "train/data_facts.h"
#include "train/evaluation.h"
#include "train/fault.h"
#include "train/initial_weights.h"
#include "train/loss_scaling.h"
#include "train/nearest_name.h"
#include "train/precision.h"
#include "train/weights_hash.h"

namespace lockstep::train {
namespace {

/// What each rank adds once per step, after the objective's sums.
enum Flag : size_t { kSave, kStop, kFlags };

comm::Codec codec_of(const TrainConfig& config) {
  switch (config.comm().codec()) {
    case TrainConfig::Comm::NONE:
      return comm::Codec::kNone;
    case TrainConfig::Comm::FP16:
      return comm::Codec::kFp16;
    case TrainConfig::Comm::BF16:
      break;
  }
  return comm::Codec::kBf16;
}

parallel::DataParallelOptions data_parallel_options(const TrainConfig& config, const Objective& objective) {
  parallel::DataParallelOptions options;
  options.virtual_ranks = config.virtual_ranks();
  options.buckets.bucket_bytes = config.comm().bucket_bytes();
  options.overlap = config.comm().overlap();
  options.codec = codec_of(config);
  options.sums = objective.width();
  options.rank_values = kFlags;
  return options;
}

/// Null unless the configuration asks for one.
std::unique_ptr<WeightAverage> make_average(const TrainConfig& config,
                                            const std::vector<Parameter*>& parameters) {
  if (config.average_decay() == 0) return nullptr;
  return std::make_unique<WeightAverage>(parameters, config.average_decay());
}

/// Of an evaluation: the loss, or a metric by its name.
double figure(const Measured& result, const std::string& name) {
  for (const auto& [metric, value] : result.metrics) {
    if (metric == name) return value;
  }
  return result.loss;
}

data::LoaderOptions train_loader_options(const TrainConfig& config, profile::Recorder* recorder) {
  data::LoaderOptions options = loader_options(config, data::Split::kTrain);
  options.recorder = recorder;
  return options;
}

void check_classes(const data::SampleSpec& train, const data::SampleSpec& test) {
  check<DataError>(train.classes == test.classes, "train", "training data of ", train.name, " have ",
                   train.classes, " classes, evaluation data ", test.classes);
  check<DataError>(train.class_names == test.class_names, "train", "training and evaluation data of ",
                   train.name, " have different classes: ", joined(train.class_names), " and ",
                   joined(test.class_names));
}

}  // namespace

Trainer::Trainer(const TrainConfig& config, comm::Communicator& communicator, Requests& requests,
                 const TrainerOptions& options)
    : config_(config),
      communicator_(communicator),
      requests_(requests),
      options_(options),
      profiler_(options.profile, communicator),
      objective_(make_objective(config, options.own)),
      best_(best_options(config, options.own)),
      train_source_(make_source(config, data::Split::kTrain, options.own)),
      test_source_(make_source(config, data::Split::kTest, options.own)),
      train_samples_(sample_count(config, *train_source_, data::Split::kTrain)),
      sampler_({.size = train_samples_, .seed = config.seed(), .shuffle = true}),
      model_(make_model(config, train_source_->spec(), options.own)),
      parameters_(freeze(models::parameters(*model_), config.frozen())),
      data_parallel_(parameters_, models::statistics(*model_), communicator,
                     data_parallel_options(config, objective_)),
      optimizer_(make_optimizer(config, parameters_, data_parallel_, options.own)),
      average_(make_average(config, parameters_)),
      plan_(make_plan(config, train_samples_)),
      schedule_(make_schedule(config, plan_)),
      loss_scaler_(loss_scaler_options(config)),
      loader_(*train_source_, sampler_, augment_options(config, train_source_->spec(), data::Split::kTrain),
              train_loader_options(config, profiler_.recorder())),
      report_(config, plan_) {
  precision_note_ = settle_precision(config_, ops::bf16_features());
  check_classes(train_source_->spec(), test_source_->spec());
}

Outcome Trainer::run() {
  const profile::Scope scope(profiler_.recorder(), "compute");
  compare_ranks();
  profiler_.check_place();
  open_run();
  if (finished()) {
    if (communicator_.rank() == 0)
      log::info("the run has finished already, at step ", position_.step, ": nothing left to do");
    write_model();  // the run may have been killed after its last checkpoint, or go on in another directory
    return Outcome::kFinished;
  }
  bool stop = stop_step_is_reached();
  if (stop) {  // where the run was resumed; the checkpoint may be another directory's
    save(true);
  } else {
    submit(position_);
  }
  while (!finished() && !stop) {
    profiler_.begin_step();
    const StepResult result = timed_step();
    if (evaluation_is_due()) evaluate_model();
    stop = !finished() && (result.stop || stop_step_is_reached());
    if (finished() || stop || result.save || checkpoint_is_due()) save(finished() || stop);
    profiler_.end_step(options_.threads);
  }
  profiler_.finish(options_.threads);
  if (stop) {
    if (communicator_.rank() == 0)
      log::info("stopped after step ", position_.step, "; go on with --resume latest");
    return Outcome::kStopped;
  }
  write_model();
  return Outcome::kFinished;
}

void Trainer::compare_ranks() {
  std::vector<parallel::Fact> facts = options_.facts;
  for (const parallel::Fact& fact : parallel::machine_facts()) facts.push_back(fact);
  for (const parallel::Fact& fact : config_fields(config_)) facts.push_back(fact);
  facts.emplace_back("threads", std::to_string(options_.threads));
  for (const parallel::Fact& fact : data_facts(config_, *train_source_, data::Split::kTrain))
    facts.push_back(fact);
  for (const parallel::Fact& fact : data_facts(config_, *test_source_, data::Split::kTest))
    facts.push_back(fact);
  for (const parallel::Fact& fact : parallel::parameter_facts(models::parameters(*model_)))
    facts.push_back(fact);
  parallel::check_facts(communicator_, facts, milliseconds(config_.comm().start_timeout_seconds()));
}

/// What a profile calls a step.
Trainer::StepResult Trainer::timed_step() {
  const profile::Span span(profile::Category::kStep, "step " + std::to_string(position_.step + 1));
  StepResult result = train_step();
  report(result);
  return result;
}

Trainer::StepResult Trainer::train_step() {
  const int64_t step = position_.step + 1;  // counted from 1 in everything that people read
  communicator_.set_step(step);
  inject_fault(config_.fault(), communicator_, step, parameters_);
  const Position next = plan_.after(position_);
  if (!plan_.finished(next)) submit(next);

  const double flags[kFlags] = {requests_.save.exchange(false) ? 1.0 : 0.0, requests_.stop ? 1.0 : 0.0};
  data_parallel_.set_loss_scale(loss_scaler_.scale());
  const std::vector<double> sums = data_parallel_.step(
      step_plan(position_), flags, [this](const parallel::MicroBatch& micro_batch, std::span<double> row) {
        return forward(micro_batch, row);
      });
  const profile::Span span(profile::Category::kPhase, "optimizer");
  const auto start = std::chrono::steady_clock::now();
  StepResult result;
  result.measured = objective_.means(sums);
  result.lr = schedule_(optimizer_steps());
  result.loss_scale = loss_scaler_.scale();
  if (std::isfinite(result.measured.loss) && data_parallel_.gradient_is_finite()) {
    take_step(result);
  } else {
    skip_step(result.measured.loss);
  }
  result.optimizer = std::chrono::steady_clock::now() - start;
  position_ = next;
  result.save = sums[objective_.width() + kSave] > 0;
  result.stop = sums[objective_.width() + kStop] > 0;
  return result;
}

Tensor Trainer::forward(const parallel::MicroBatch& micro_batch, std::span<double> sums) {
  const data::Batch batch = loader_.next();
  ensure(batch.request.count == micro_batch.count, "forward", "the loader is at another micro-batch");
  const models::ForwardContext context{
      true,
      {config_.seed(), static_cast<uint64_t>(position_.step), static_cast<uint64_t>(micro_batch.index)},
      compute_type(config_)};
  const Tensor loss = objective_.measure(batch, models::forward(*model_, batch.inputs, context), sums);
  return with_faulty_gradient(config_.fault(), communicator_.rank(), position_.step + 1, parameters_, loss);
}

void Trainer::submit(const Position& position) {
  std::vector<data::BatchRequest> requests;
  for (const parallel::Slot& slot : step_plan(position).slots) {
    for (const parallel::MicroBatch& micro_batch : slot.micro_batches) {
      requests.push_back({position.epoch, position.sample + micro_batch.first, micro_batch.count});
    }
  }
  loader_.submit(requests);
}

parallel::StepPlan Trainer::step_plan(const Position& position) const {
  return parallel::plan_step(plan_.batch_at(position), config_.micro_batch(), config_.virtual_ranks(),
                             communicator_.size(), communicator_.rank());
}

void Trainer::take_step(const StepResult& result) {
  if (result.measured.weight > 0) {  // a step of which no sample counts changes nothing
    optimizer_->step({.lr = result.lr, .gradient_divisor = result.measured.weight * result.loss_scale});
    data_parallel_.commit_statistics();
    if (average_) average_->update();
  }
  loss_scaler_.update(false);
}

/// Collective: all ranks hold the same sums and know of the same gradients, so they come here together.
/// Nothing but the loss scale changes; where that cannot help any more, the run ends.
void Trainer::skip_step(double loss) {
  const parallel::NonFinite found = data_parallel_.find_nonfinite_gradient();
  BadStep bad{.step = position_.step + 1, .loss = loss};
  if (found.tensor != parallel::kNoTensor) {
    bad.parameter = parameters_[static_cast<size_t>(found.tensor)]->name;
    bad.place = place_text(found, communicator_.size());
  }
  const double scale = loss_scaler_.scale();
  if (loss_scaler_.update(true) == parallel::LossScaler::Verdict::kCollapse)
    throw Error(collapse_text(bad, config_, loss_scaler_.state(), nonfinite_weights()));
  if (communicator_.rank() == 0) report_.warn(skip_text(bad, scale, loss_scaler_.state()));
}

/// Collective. "fc1.weight on rank 0", the first of the model that is not finite; empty: none.
std::string Trainer::nonfinite_weights() {
  const std::vector<Parameter*> weights = models::parameters(*model_);
  const parallel::NonFinite found =
      parallel::find_nonfinite(communicator_, parallel::first_nonfinite(weights));
  if (found.tensor == parallel::kNoTensor) return "";
  return weights[static_cast<size_t>(found.tensor)]->name + ' ' + place_text(found, communicator_.size());
}

/// Those that were not skipped, which is what the schedule counts.
int64_t Trainer::optimizer_steps() const {
  return position_.step - loss_scaler_.state().skipped_steps;
}

void Trainer::report(const StepResult& result) {
  const int64_t hash_every = config_.metrics().hash_every();
  const bool hash = hash_every > 0 && position_.step % hash_every == 0;
  std::optional<WeightsHash> weights;
  if (hash) {
    const profile::Span span(profile::Category::kOther, "hash of the weights");
    weights = hash_weights(models::state_tensors(*model_));
    parallel::check_replicas(communicator_, weights->tensors, position_.step);
  }
  if (communicator_.rank() != 0) return;
  report_.step({.position = position_,
                .measured = result.measured,
                .lr = result.lr,
                .loss_scale = result.loss_scale,
                .skipped_steps = loss_scaler_.state().skipped_steps,
                .times = data_parallel_.times(),
                .optimizer = result.optimizer,
                .data_wait = loader_.wait_time(),
                .weights = std::move(weights)});
}

bool Trainer::finished() const {
  return plan_.finished(position_) || best_.exhausted();
}

bool Trainer::stop_step_is_reached() const {
  return options_.stop_at_step > 0 && position_.step >= options_.stop_at_step;
}

bool Trainer::evaluation_is_due() const {
  if (plan_.finished(position_)) return true;
  const int64_t every = config_.evaluation().every_epochs();
  return position_.sample == 0 && every > 0 && position_.epoch % every == 0;
}

void Trainer::evaluate_model() {
  const profile::Span span(profile::Category::kOther, "evaluation");
  const WeightAverage::InUse averaged(average_.get());
  const Measured result =
      evaluate(*model_, *test_source_, objective_, communicator_, evaluation_options(config_, *test_source_));
  if (communicator_.rank() == 0) report_.evaluation(position_, result);
  if (best_.update(figure(result, config_.evaluation().best_by()), position_.step) &&
      config_.evaluation().keep_best()) {
    write_weights("keeping the best weights", RunDirectory{options_.output}.best());
  }
  if (best_.exhausted() && communicator_.rank() == 0) {
    log::info(config_.evaluation().patience(), " evaluations without a better ",
              config_.evaluation().best_by(), " than ",
              best_.known() ? to_text(best_.value(), ", of step ", best_.step()) : "NaN",
              ": the run ends early");
  }
}

bool Trainer::checkpoint_is_due() const {
  const int64_t steps = config_.checkpoint().every_steps();
  const int64_t epochs = config_.checkpoint().every_epochs();
  return (steps > 0 && position_.step % steps == 0) ||
         (epochs > 0 && position_.sample == 0 && position_.epoch % epochs == 0);
}

}  // namespace lockstep::train
