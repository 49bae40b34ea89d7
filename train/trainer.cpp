#include "train/trainer.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "ops/accuracy/accuracy.h"
#include "ops/cross_entropy/cross_entropy.h"
#include "parallel/rank_zero.h"
#include "runtime/log.h"
#include "runtime/threads.h"
#include "train/assembly.h"
#include "train/checkpoint.h"
#include "train/config.h"
#include "train/config_fields.h"
#include "train/evaluation.h"
#include "train/fault.h"
#include "train/open_run.h"
#include "train/run_description.h"
#include "train/safetensors.h"
#include "train/tensor_match.h"
#include "train/weights_hash.h"

namespace lockstep::train {
namespace {

/// What forward() adds up, and what each rank adds once per step.
enum Sum : size_t { kLoss, kWeight, kCorrect, kSums, kSaveFlag = kSums, kStopFlag, kEnd };
constexpr size_t kFlags = kEnd - kSums;

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
}

parallel::DataParallelOptions data_parallel_options(const TrainConfig& config) {
  parallel::DataParallelOptions options;
  options.virtual_ranks = config.virtual_ranks();
  options.buckets.bucket_bytes = config.comm().bucket_bytes();
  options.loss_scale = config.loss_scale();
  options.sums = kSums;
  options.rank_values = kFlags;
  return options;
}

/// Whether no element of an f32 tensor is an infinity or NaN: those have the greatest exponents, so a maximum
/// over the bits finds them.
bool is_finite(const Tensor& tensor) {
  constexpr uint32_t kSign = 0x80000000;
  constexpr uint32_t kInfinity = 0x7f800000;
  const float* values = tensor.data<float>();
  uint32_t greatest = 0;
  for (int64_t i = 0; i < tensor.count(); ++i) {
    greatest = std::max(greatest, std::bit_cast<uint32_t>(values[i]) & ~kSign);
  }
  return greatest < kInfinity;
}

/// Tensors of a list as they are hashed, compared and broadcast.
std::vector<Tensor> values_of(const std::vector<NamedTensor>& tensors) {
  std::vector<Tensor> values;
  for (const NamedTensor& tensor : tensors) values.push_back(tensor.value);
  return values;
}

}  // namespace

Trainer::Trainer(const TrainConfig& config, comm::Communicator& communicator, Requests& requests,
                 const TrainerOptions& options)
    : config_(config),
      communicator_(communicator),
      requests_(requests),
      options_(options),
      train_source_(make_source(config, data::Split::kTrain)),
      test_source_(make_source(config, data::Split::kTest)),
      train_samples_(sample_count(config, *train_source_, data::Split::kTrain)),
      sampler_({.size = train_samples_, .seed = config.seed(), .shuffle = true}),
      model_(make_model(config, train_source_->spec())),
      parameters_(models::parameters(*model_)),
      data_parallel_(parameters_, models::statistics(*model_), communicator, data_parallel_options(config)),
      optimizer_(make_optimizer(config, parameters_, data_parallel_)),
      plan_(make_plan(config, train_samples_)),
      schedule_(make_schedule(config, plan_)),
      loader_(*train_source_, sampler_, augment_options(config, train_source_->spec(), data::Split::kTrain),
              loader_options(config, data::Split::kTrain)),
      report_(config, plan_) {}

Outcome Trainer::run() {
  compare_ranks();
  open_run();
  if (plan_.finished(position_)) {
    if (communicator_.rank() == 0)
      log::info("the run has finished already, at step ", position_.step, ": nothing left to do");
    write_model();  // the run may have been killed after its last checkpoint, or go on in another directory
    return Outcome::kFinished;
  }
  submit(position_);
  while (!plan_.finished(position_)) {
    const StepResult result = train_step();
    report(result);
    if (evaluation_is_due()) evaluate_model();
    const bool finished = plan_.finished(position_);
    const bool stop =
        !finished && (result.stop || (options_.stop_at_step > 0 && position_.step >= options_.stop_at_step));
    if (finished || stop || result.save || checkpoint_is_due()) save(finished);
    if (stop) {
      if (communicator_.rank() == 0)
        log::info("stopped after step ", position_.step, "; go on with --resume latest");
      return Outcome::kStopped;
    }
  }
  write_model();
  return Outcome::kFinished;
}

void Trainer::compare_ranks() {
  std::vector<parallel::Fact> facts = options_.facts;
  for (const parallel::Fact& fact : parallel::machine_facts()) facts.push_back(fact);
  for (const parallel::Fact& fact : config_fields(config_)) facts.push_back(fact);
  facts.emplace_back("threads", std::to_string(options_.threads));
  facts.emplace_back("training samples", std::to_string(train_samples_));
  for (const parallel::Fact& fact : parallel::parameter_facts(parameters_)) facts.push_back(fact);
  parallel::check_facts(communicator_, facts, milliseconds(config_.comm().start_timeout_seconds()));
}

void Trainer::open_run() {
  std::string checkpoint;
  parallel::on_rank_zero(communicator_, "opening the run directory", {}, [&] {
    OpenedRun opened = train::open_run(options_.output, options_.resume, config_);
    lock_ = std::move(opened.lock);
    checkpoint = opened.checkpoint;
    for (const std::string& line :
         describe_run(config_, plan_, {.ranks = communicator_.size(), .threads = options_.threads})) {
      log::info(line);
    }
    log::info("run directory: ", options_.output);
  });
  checkpoint = parallel::broadcast_text(communicator_, checkpoint);
  if (!checkpoint.empty()) restore(checkpoint);
  std::vector<NamedTensor> state = models::state_tensors(*model_);
  for (NamedTensor& tensor : optimizer_->state()) state.push_back(std::move(tensor));
  parallel::broadcast_tensors(communicator_, values_of(state));
  parallel::check_replicas(communicator_, hash_weights(state).tensors, position_.step);
  if (communicator_.rank() == 0) report_.open(options_.output, position_);
}

void Trainer::restore(const std::string& path) {
  std::string state_bytes;
  parallel::on_rank_zero(
      communicator_, "loading the checkpoint", milliseconds(config_.checkpoint().timeout_seconds()), [&] {
        const Checkpoint checkpoint = load_checkpoint(path);
        TrainConfig saved = checkpoint.state.config();
        fill_defaults(saved);  // an older build's lacks the newer fields
        for (const std::string& change : differences(saved, config_)) {
          log::warning("changed since the checkpoint: ", change);
        }
        try {
          load_by_name(path + "/model.safetensors", checkpoint.model, models::state_tensors(*model_));
          load_by_name(path + "/optimizer.safetensors", checkpoint.optimizer, optimizer_->state());
        } catch (const DataError& error) {
          throw ConfigError(
              to_text(error.what(), "; the configuration's model or optimizer is not the checkpoint's"));
        }
        state_bytes = checkpoint.state.SerializeAsString();
        log::info("resuming from ", path);
      });
  CheckpointState state;
  ensure(state.ParseFromString(parallel::broadcast_text(communicator_, state_bytes)), "restore",
         "unreadable state");
  position_ = {state.step(), state.epoch(), state.sample_offset(), state.samples()};
  check<ConfigError>(position_.sample == 0 || position_.sample < train_samples_, "resume",
                     "the checkpoint stands at sample ", position_.sample,
                     " of its epoch, but there are only ", train_samples_, " training samples now");
  if (config_.threads() == 0 && state.threads() > 0) take_threads(state.threads());
  if (communicator_.rank() == 0) report_.add_wall_time(state.wall_time());
}

/// The number of threads is part of the bits, so a run keeps it wherever it goes on.
void Trainer::take_threads(int threads) {
  if (threads != options_.threads && communicator_.rank() == 0)
    log::info("threads: ", threads, " per rank, as before; ", options_.threads,
              " would have been chosen here");
  options_.threads = threads;
  configure_compute_threads(threads);
}

Trainer::StepResult Trainer::train_step() {
  const int64_t step = position_.step + 1;  // counted from 1 in everything that people read
  communicator_.set_step(step);
  inject_fault(config_.fault(), communicator_, step);
  const Position next = plan_.after(position_);
  if (!plan_.finished(next)) submit(next);

  const double flags[kFlags] = {requests_.save.exchange(false) ? 1.0 : 0.0, requests_.stop ? 1.0 : 0.0};
  const std::vector<double> sums = data_parallel_.step(
      step_plan(position_), flags, [this](const parallel::MicroBatch& micro_batch, std::span<double> row) {
        return forward(micro_batch, row);
      });
  check_finite(sums);
  StepResult result;
  result.lr = schedule_(position_.step);
  if (sums[kWeight] > 0) {  // a step of which no sample counts changes nothing
    optimizer_->step({.lr = result.lr, .gradient_divisor = sums[kWeight] * config_.loss_scale()});
    data_parallel_.commit_statistics();
    result.loss = sums[kLoss] / sums[kWeight];
    result.accuracy = sums[kCorrect] / sums[kWeight];
  }
  position_ = next;
  result.save = sums[kSaveFlag] > 0;
  result.stop = sums[kStopFlag] > 0;
  return result;
}

Tensor Trainer::forward(const parallel::MicroBatch& micro_batch, std::span<double> sums) {
  const data::Batch batch = loader_.next();
  ensure(batch.request.count == micro_batch.count, "forward", "the loader is at another micro-batch");
  const models::ForwardContext context{
      true,
      {config_.seed(), static_cast<uint64_t>(position_.step), static_cast<uint64_t>(micro_batch.index)}};
  const Tensor logits = model_->forward(batch.inputs, context);
  const auto loss =
      ops::cross_entropy(logits, batch.targets, {.label_smoothing = config_.loss().label_smoothing()});
  sums[kLoss] += loss.sum_value;
  sums[kWeight] += loss.weight;
  sums[kCorrect] += static_cast<double>(ops::count_correct(logits, batch.targets));
  return loss.sum;
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

/// All ranks hold the same sums and gradients, so they come to the same result.
void Trainer::check_finite(const std::vector<double>& sums) {
  std::string culprit = "none";
  for (size_t i = 0; i < parameters_.size() && culprit == "none"; ++i) {
    if (!is_finite(data_parallel_.gradient(i))) culprit = parameters_[i]->name;
  }
  if (std::isfinite(sums[kLoss]) && culprit == "none") return;
  throw Error(to_text("[train] at step ", position_.step + 1, " the loss is ", sums[kLoss] / sums[kWeight],
                      "; the first parameter whose gradient is not finite: ", culprit,
                      "; what may help: a lower optimizer.lr, a longer schedule.warmup_epochs",
                      config_.loss_scale() == 1 ? "" : ", a smaller loss_scale"));
}

void Trainer::report(const StepResult& result) {
  const int64_t hash_every = config_.metrics().hash_every();
  const bool hash = hash_every > 0 && position_.step % hash_every == 0;
  std::optional<WeightsHash> weights;
  if (hash) {
    weights = hash_weights(models::state_tensors(*model_));
    parallel::check_replicas(communicator_, weights->tensors, position_.step);
  }
  if (communicator_.rank() != 0) return;
  report_.step({.position = position_,
                .loss = result.loss,
                .accuracy = result.accuracy,
                .lr = result.lr,
                .times = data_parallel_.times(),
                .data_wait = loader_.wait_time(),
                .weights = std::move(weights)});
}

bool Trainer::evaluation_is_due() const {
  if (plan_.finished(position_)) return true;
  const int64_t every = config_.evaluation().every_epochs();
  return position_.sample == 0 && every > 0 && position_.epoch % every == 0;
}

void Trainer::evaluate_model() {
  const EvaluationResult result =
      evaluate(*model_, *test_source_, communicator_,
               {.samples = sample_count(config_, *test_source_, data::Split::kTest),
                .batch = config_.evaluation().batch(),
                .virtual_ranks = config_.virtual_ranks(),
                .augment = augment_options(config_, test_source_->spec(), data::Split::kTest),
                .loader = loader_options(config_, data::Split::kTest)});
  if (communicator_.rank() == 0) report_.evaluation(position_, result);
}

bool Trainer::checkpoint_is_due() const {
  const int64_t steps = config_.checkpoint().every_steps();
  const int64_t epochs = config_.checkpoint().every_epochs();
  return (steps > 0 && position_.step % steps == 0) ||
         (epochs > 0 && position_.sample == 0 && position_.epoch % epochs == 0);
}

void Trainer::save(bool finished) {
  parallel::on_rank_zero(communicator_, "saving the checkpoint",
                         milliseconds(config_.checkpoint().timeout_seconds()), [&] {
                           Checkpoint checkpoint{models::state_tensors(*model_), optimizer_->state(), {}};
                           CheckpointState& state = checkpoint.state;
                           state.set_step(position_.step);
                           state.set_epoch(position_.epoch);
                           state.set_sample_offset(position_.sample);
                           state.set_samples(position_.samples);
                           state.set_finished(finished);
                           state.set_wall_time(report_.wall_time());
                           state.set_seed(config_.seed());
                           state.mutable_schedule()->set_step(position_.step);
                           state.mutable_schedule()->set_peak_lr(scaled_lr(config_));
                           *state.mutable_config() = config_;
                           state.set_ranks(communicator_.size());
                           state.set_threads(options_.threads);
                           save_checkpoint(RunDirectory{options_.output}.checkpoints(), checkpoint,
                                           {.keep = config_.checkpoint().keep()});
                         });
}

void Trainer::write_model() {
  parallel::on_rank_zero(communicator_, "writing the model",
                         milliseconds(config_.checkpoint().timeout_seconds()), [&] {
                           save_safetensors(RunDirectory{options_.output}.model(),
                                            models::state_tensors(*model_), {{"format", "pt"}});
                         });
  if (communicator_.rank() == 0) report_.finish(options_.output);
}

}  // namespace lockstep::train
