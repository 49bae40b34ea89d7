// The part of the trainer that deals with files: how a run begins, goes on and ends. Rank 0 reads and writes.
#include <algorithm>
#include <filesystem>

#include "optim/parameter_rules.h"
#include "parallel/rank_zero.h"
#include "runtime/log.h"
#include "runtime/profile.h"
#include "runtime/threads.h"
#include "train/assembly.h"
#include "train/checkpoint.h"
#include "train/config.h"
#include "train/initial_weights.h"
#include "train/loss_scaling.h"
#include "train/model_file.h"
#include "train/nearest_name.h"
#include "train/open_run.h"
#include "train/run_description.h"
#include "train/tensor_match.h"
#include "train/trainer.h"

namespace lockstep::train {
namespace {

/// Tensors of a list as they are hashed, compared and broadcast.
std::vector<Tensor> values_of(const std::vector<NamedTensor>& tensors) {
  std::vector<Tensor> values;
  for (const NamedTensor& tensor : tensors) values.push_back(tensor.value);
  return values;
}

/// A few words on what the parameters take, for the log; the whole table goes to a file.
std::string decay_text(const std::vector<optim::OptimizedParameter>& parameters) {
  const auto decayed = std::count_if(parameters.begin(), parameters.end(),
                                     [](const auto& parameter) { return parameter.weight_decay > 0; });
  return to_text("weight decay: on ", decayed, " of ", parameters.size(),
                 " trained parameters; parameters.txt has each one's settings");
}

void write_parameter_table(const std::string& path,
                           const std::vector<optim::OptimizedParameter>& parameters) {
  replace_file(path, [&](FileWriter& writer) { writer.append(optim::parameter_table(parameters)); });
}

void check_class_names(const CheckpointState& state, const std::vector<std::string>& names) {
  const std::vector<std::string> saved(state.class_names().begin(), state.class_names().end());
  check<ConfigError>(saved == names, "resume", "the data has other classes than the checkpoint: expected ",
                     joined(saved), "; got ", joined(names));
}

}  // namespace

void Trainer::open_run() {
  std::string checkpoint;
  parallel::on_rank_zero(communicator_, "opening the run directory", {}, [&] {
    OpenedRun opened = train::open_run(options_.output, options_.resume, config_);
    lock_ = std::move(opened.lock);
    checkpoint = opened.checkpoint;
    for (const std::string& line : describe_run(
             config_, plan_, {communicator_.size(), options_.threads, communicator_.description()})) {
      log::info(line);
    }
    if (!precision_note_.empty()) log::info(precision_note_);
    const data::SampleSpec& spec = train_source_->spec();
    if (!spec.class_names.empty()) log::info(spec.classes, " classes: ", joined(spec.class_names));
    log::info(decay_text(optimizer_->parameters()));
    write_parameter_table(RunDirectory{options_.output}.parameters(), optimizer_->parameters());
    log::info("run directory: ", options_.output);
  });
  checkpoint = parallel::broadcast_text(communicator_, checkpoint);
  if (checkpoint.empty()) {
    begin();
  } else {
    restore(checkpoint);
  }
  share_state();
  if (communicator_.rank() == 0) report_.open(options_.output, position_);
}

/// A new run, as drawn or from the weights of another model.
void Trainer::begin() {
  if (!config_.init_from().path().empty()) {
    parallel::on_rank_zero(communicator_, "loading the initial weights", checkpoint_timeout(), [&] {
      log::info(load_initial_weights(config_.init_from(), models::state_tensors(*model_)));
    });
  }
  if (average_) average_->reset();
}

/// Gives every rank rank 0's tensors, and makes sure.
void Trainer::share_state() {
  std::vector<NamedTensor> state = models::state_tensors(*model_);
  for (NamedTensor& tensor : optimizer_->state()) state.push_back(std::move(tensor));
  if (average_) {
    for (const NamedTensor& tensor : average_->state())
      state.push_back({"average." + tensor.name, tensor.value});
  }
  parallel::broadcast_tensors(communicator_, values_of(state));
  parallel::check_replicas(communicator_, hash_weights(state).tensors, position_.step);
}

void Trainer::restore(const std::string& path) {
  std::string state_bytes;
  parallel::on_rank_zero(communicator_, "loading the checkpoint", checkpoint_timeout(), [&] {
    Checkpoint checkpoint = load_checkpoint(path);
    check_class_names(checkpoint.state, train_source_->spec().class_names);
    TrainConfig saved = checkpoint.state.config();
    fill_defaults(saved);  // an older build's lacks the newer fields
    for (const std::string& change : differences(saved, config_)) {
      log::warning("changed since the checkpoint: ", change);
    }
    restore_tensors(path, checkpoint);
    restore_best(saved, checkpoint);
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
  best_.restore(state.best());
  loss_scaler_.restore(resumed_loss_scaler(state, config_));
  if (config_.threads() == 0 && state.threads() > 0) take_threads(state.threads());
  if (communicator_.rank() == 0) report_.add_wall_time(state.wall_time());
}

void Trainer::restore_tensors(const std::string& path, const Checkpoint& checkpoint) {
  try {
    load_by_name(path + "/model.safetensors", checkpoint.model, models::state_tensors(*model_));
    load_by_name(path + "/optimizer.safetensors", checkpoint.optimizer, optimizer_->state());
    if (average_ && checkpoint.average.empty()) {
      log::warning("the checkpoint has no average of the weights: it begins here");
      average_->reset();
    } else if (average_) {
      load_by_name(path + "/average.safetensors", checkpoint.average, average_->state());
    }
  } catch (const DataError& error) {
    throw ConfigError(
        to_text(error.what(), "; the configuration's model or optimizer is not the checkpoint's"));
  }
}

/// The best weights as they were then: those of a later step belong to what was given up. Where nothing can
/// be compared with them, or they are lost, the best begins anew.
void Trainer::restore_best(const TrainConfig& saved, Checkpoint& checkpoint) {
  if (!checkpoint.state.best().has_value()) return;
  const bool comparable = saved.evaluation().best_by() == config_.evaluation().best_by();
  const bool keeps = config_.evaluation().keep_best();
  if (!comparable || (keeps && checkpoint.best.empty())) {
    log::warning("the best evaluation so far is forgotten: ",
                 comparable ? "the checkpoint has not its weights" : "evaluation.best_by has changed");
    checkpoint.state.clear_best();
  } else if (keeps) {
    replace_file(RunDirectory{options_.output}.best(),
                 [&](FileWriter& writer) { writer.append_file(checkpoint.best); });
  }
}

/// The number of threads is part of the bits, so a run keeps it wherever it goes on.
void Trainer::take_threads(int threads) {
  if (threads != options_.threads && communicator_.rank() == 0)
    log::info("threads: ", threads, " per rank, as before; ", options_.threads,
              " would have been chosen here");
  options_.threads = threads;
  configure_compute_threads(threads);
}

/// A checkpoint of weights that are not finite would be of no use, and might be the one that takes the place
/// of the last good one. Where the run goes on, it will say itself why it cannot.
bool Trainer::weights_can_be_saved(bool last) {
  const std::vector<Parameter*> weights = models::parameters(*model_);
  const int64_t bad = parallel::first_nonfinite(weights);
  if (bad == parallel::kNoTensor) return true;
  const std::string text = to_text("checkpoint of step ", position_.step,
                                   " is not saved: ", weights[static_cast<size_t>(bad)]->name,
                                   " is not finite; earlier checkpoints are untouched");
  check<Error>(!last, "train", text);
  report_.warn(text);
  return false;
}

void Trainer::save(bool last) {
  const profile::Span span(profile::Category::kOther, "checkpoint");
  parallel::on_rank_zero(communicator_, "saving the checkpoint", checkpoint_timeout(), [&] {
    if (!weights_can_be_saved(last)) return;
    Checkpoint checkpoint;
    checkpoint.model = models::state_tensors(*model_);
    checkpoint.optimizer = optimizer_->state();
    if (average_) checkpoint.average = average_->state();
    CheckpointState& state = checkpoint.state;
    state.set_step(position_.step);
    state.set_epoch(position_.epoch);
    state.set_sample_offset(position_.sample);
    state.set_samples(position_.samples);
    state.set_finished(finished());
    state.set_wall_time(report_.wall_time());
    state.set_seed(config_.seed());
    state.mutable_schedule()->set_step(optimizer_steps());
    state.mutable_schedule()->set_peak_lr(scaled_lr(config_));
    *state.mutable_loss_scaler() = to_proto(loss_scaler_.state());
    *state.mutable_best() = best_.state();
    const std::string best = RunDirectory{options_.output}.best();
    if (config_.evaluation().keep_best() && best_.known() && std::filesystem::exists(best))
      checkpoint.best = best;
    *state.mutable_config() = config_;
    state.set_ranks(communicator_.size());
    state.set_threads(options_.threads);
    for (const std::string& name : train_source_->spec().class_names) state.add_class_names(name);
    for (const optim::OptimizedParameter& parameter : optimizer_->parameters()) {
      if (parameter.weight_decay == 0 && !parameter.trust) state.add_plain_parameters(parameter.name);
    }
    save_checkpoint(RunDirectory{options_.output}.checkpoints(), checkpoint,
                    {.keep = config_.checkpoint().keep()});
  });
}

void Trainer::write_weights(const char* why, const std::string& path) {
  parallel::on_rank_zero(communicator_, why, checkpoint_timeout(),
                         [&] { save_model(path, *model_, train_source_->spec()); });
}

void Trainer::write_model() {
  {
    const WeightAverage::InUse averaged(average_.get());
    write_weights("writing the model", RunDirectory{options_.output}.model());
  }
  if (communicator_.rank() == 0) report_.finish(options_.output);
}

std::chrono::milliseconds Trainer::checkpoint_timeout() const {
  return milliseconds(config_.checkpoint().timeout_seconds());
}

}  // namespace lockstep::train
