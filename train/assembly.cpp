#include "train/assembly.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "data/formats/table.h"
#include "models/table.h"
#include "optim/parameter_rules.h"
#include "optim/table.h"
#include "runtime/error.h"
#include "runtime/named_rows.h"
#include "train/metrics.h"
#include "train/nearest_name.h"
#include "train/precision.h"

namespace lockstep::train {
namespace {

/// One value serves all channels.
std::vector<double> per_channel(const char* field, const google::protobuf::RepeatedField<double>& values,
                                const data::SampleSpec& spec) {
  const auto channels = static_cast<size_t>(spec.shape[0]);
  if (values.size() == 1) return std::vector<double>(channels, values[0]);
  check<ConfigError>(values.empty() || static_cast<size_t>(values.size()) == channels, "config", field,
                     " has ", values.size(), " values: expected 1 or as many as ", spec.name,
                     " has channels, ", channels);
  return {values.begin(), values.end()};
}

std::vector<std::string> distinct(const char* kind, std::vector<std::string> names) {
  std::set<std::string> seen;
  for (const std::string& name : names) {
    check<ConfigError>(seen.insert(name).second, "extensions", kind, " \"", name,
                       "\" exists already; a program's own needs another name");
  }
  return names;
}

/// Metrics are written by their names, beside other figures.
std::vector<std::string> free_names(std::vector<std::string> metrics) {
  for (const std::string& name : metrics) {
    check<ConfigError>(std::find(kOwnFields.begin(), kOwnFields.end(), name) == kOwnFields.end(),
                       "extensions", "metric \"", name,
                       "\": a field of metrics.jsonl has this name; a metric needs another one");
  }
  return metrics;
}

LossRow loss_row(const TrainConfig& config, const Extensions& own) {
  return find_row("loss", losses(own.losses), config.loss().name());
}

/// What is measured beside the loss.
std::vector<std::string> metric_names(const TrainConfig& config, const LossRow& loss) {
  const auto& names = config.evaluation().metrics();
  if (!names.empty()) return {names.begin(), names.end()};
  if (loss.usual_metric == nullptr) return {};
  return {loss.usual_metric};
}

data::FramingOptions framing_options(const TrainConfig& config, const data::SampleSpec& spec) {
  const TrainConfig::Augment& augment = config.data().augment();
  check<ConfigError>(!augment.random_resized_crop() || spec.framed, "config",
                     "data.augment.random_resized_crop = true: expected false, since the images of ",
                     spec.name, " all have one size; crop_padding suits them");
  return {.random = augment.random_resized_crop(),
          .min_area = augment.min_area(),
          .max_area = augment.max_area(),
          .min_aspect = augment.min_aspect(),
          .max_aspect = augment.max_aspect(),
          .center = config.data().image().center_crop()};
}

}  // namespace

KnownNames known_names(const Extensions& own) {
  KnownNames known;
  known.models = distinct("model", models::model_names(own.models));
  known.data = distinct("data", data::source_names(own.sources));
  known.optimizers = distinct("optimizer", optim::optimizer_names(own.optimizers));
  known.losses = distinct("loss", names_of(losses(own.losses)));
  known.metrics = free_names(distinct("metric", names_of(metrics(own.metrics))));
  known.schedules = optim::schedule_names();
  return known;
}

std::unique_ptr<data::DataSource> make_source(const TrainConfig& config, data::Split split,
                                              const Extensions& own) {
  const TrainConfig::Synthetic& synthetic = config.data().synthetic();
  data::SourceOptions options;
  options.name = config.data().name();
  options.path = config.data().path();
  options.split = split;
  options.classes = config.data().classes();
  options.size = split == data::Split::kTrain ? synthetic.train_samples() : synthetic.test_samples();
  options.shape = {synthetic.channels(), synthetic.height(), synthetic.width()};
  options.seed = config.seed();
  options.image_size = config.data().image().size();
  options.image_channels = config.data().image().channels();
  options.sequence_length = config.data().sequence_length();
  return data::open_source(options, own.sources);
}

int64_t sample_count(const TrainConfig& config, const data::DataSource& source, data::Split split) {
  const int64_t limit =
      split == data::Split::kTrain ? config.data().train_limit() : config.data().test_limit();
  return limit > 0 ? std::min(limit, source.size()) : source.size();
}

data::AugmentOptions augment_options(const TrainConfig& config, const data::SampleSpec& spec,
                                     data::Split split) {
  data::AugmentOptions options;
  options.seed = config.seed();
  options.framing.center = config.data().image().center_crop();
  if (!spec.is_image()) return options;
  options.mean = per_channel("data.mean", config.data().mean(), spec);
  options.std = per_channel("data.deviation", config.data().deviation(), spec);
  if (split == data::Split::kTrain) {
    options.crop_padding = config.data().augment().crop_padding();
    options.flip = config.data().augment().flip();
    options.framing = framing_options(config, spec);
    options.brightness = config.data().augment().brightness();
    options.contrast = config.data().augment().contrast();
    options.saturation = config.data().augment().saturation();
    options.hue = config.data().augment().hue();
    const int64_t smaller_extent = std::min(spec.shape[1], spec.shape[2]);
    check<ConfigError>(options.crop_padding < smaller_extent, "config",
                       "data.augment.crop_padding = ", options.crop_padding, ": expected 0 to ",
                       smaller_extent - 1, ", since the images of ", spec.name, " are ", spec.shape);
  }
  return options;
}

data::LoaderOptions loader_options(const TrainConfig& config, data::Split split) {
  data::LoaderOptions options;
  if (config.data().bad_samples() == TrainConfig::Data::REPLACE) {
    options.bad_samples =
        split == data::Split::kTrain ? data::BadSamples::kReplace : data::BadSamples::kLeaveOut;
  }
  options.threads = config.data().loader_threads();
  options.prefetch = config.data().prefetch();
  options.timeout = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(config.comm().timeout_seconds()));
  return options;
}

std::unique_ptr<models::Module> make_model(const TrainConfig& config, const data::SampleSpec& spec,
                                           const Extensions& own) {
  models::ModelOptions options;
  options.input = spec.shape;
  options.classes = static_cast<int>(spec.classes);
  options.hidden.assign(config.model().hidden().begin(), config.model().hidden().end());
  if (config.model().has_dropout()) options.dropout = config.model().dropout();
  options.batch_norm = config.model().batch_norm();
  options.zero_gamma = config.model().zero_gamma();
  options.layers = config.model().layers();
  options.heads = config.model().heads();
  options.width = config.model().width();
  options.patch = config.model().patch();
  std::unique_ptr<models::Module> model = models::make_model(config.model().name(), options, own.models);
  models::initialize(*model, config.seed());
  return model;
}

Objective make_objective(const TrainConfig& config, const Extensions& own) {
  const LossRow loss = loss_row(config, own);
  std::vector<MetricRow> measured;
  for (const std::string& name : metric_names(config, loss)) {
    measured.push_back(find_row("metric", metrics(own.metrics), name));
  }
  return {loss, {.label_smoothing = config.loss().label_smoothing()}, measured};
}

EvaluationOptions evaluation_options(const TrainConfig& config, const data::DataSource& source) {
  return {.samples = sample_count(config, source, data::Split::kTest),
          .batch = config.evaluation().batch(),
          .virtual_ranks = config.virtual_ranks(),
          .compute = compute_type(config),
          .augment = augment_options(config, source.spec(), data::Split::kTest),
          .loader = loader_options(config, data::Split::kTest)};
}

BestSoFarOptions best_options(const TrainConfig& config, const Extensions& own) {
  BestSoFarOptions options;
  options.min_improvement = config.evaluation().min_improvement();
  options.patience = config.evaluation().patience();
  const std::string& by = config.evaluation().best_by();
  if (by == "loss") return options;
  const std::vector<std::string> measured = metric_names(config, loss_row(config, own));
  check<ConfigError>(std::find(measured.begin(), measured.end(), by) != measured.end(), "config",
                     "evaluation.best_by = \"", by,
                     "\": expected loss or one of what is measured: ", joined(measured));
  options.higher_is_better = find_row("metric", metrics(own.metrics), by).higher_is_better;
  return options;
}

TrainingPlan make_plan(const TrainConfig& config, int64_t samples) {
  return TrainingPlan({.samples = samples,
                       .global_batch = config.global_batch(),
                       .epochs = config.epochs(),
                       .max_steps = config.max_steps(),
                       .drop_last = config.drop_last()});
}

double scaled_lr(const TrainConfig& config) {
  if (config.schedule().scaling() == TrainConfig::Schedule::NONE) return config.optimizer().lr();
  return config.optimizer().lr() * static_cast<double>(config.global_batch()) /
         static_cast<double>(config.schedule().base_batch());
}

optim::LrSchedule make_schedule(const TrainConfig& config, const TrainingPlan& plan) {
  const TrainConfig::Schedule& schedule = config.schedule();
  optim::ScheduleOptions options;
  options.lr = scaled_lr(config);
  options.total_steps = plan.total_steps();
  options.warmup_steps = optim::steps_of(schedule.warmup_epochs(), plan.steps_per_epoch());
  options.warmup_start = schedule.warmup_start_factor();
  for (const double epochs : schedule.milestones()) {
    options.milestones.push_back(optim::steps_of(epochs, plan.steps_per_epoch()));
  }
  options.gamma = schedule.gamma();
  options.power = schedule.power();
  options.end_lr = schedule.end_lr();
  return optim::make_schedule(schedule.name(), options);
}

std::unique_ptr<optim::Optimizer> make_optimizer(const TrainConfig& config,
                                                 const std::vector<Parameter*>& parameters,
                                                 parallel::DistributedDataParallel& data_parallel,
                                                 const Extensions& own) {
  std::vector<optim::OptimizedParameter> optimized;
  for (const parallel::Bucket& bucket : data_parallel.plan().buckets) {
    for (const int p : bucket.parameters) {
      const auto i = static_cast<size_t>(p);
      optimized.push_back({parameters[i]->name, parameters[i]->value, data_parallel.gradient(i)});
    }
  }
  std::vector<optim::ParameterRule> rules;
  for (const TrainConfig::ParameterRule& rule : config.optimizer().rules()) {
    optim::ParameterRule& added = rules.emplace_back();
    added.pattern = rule.pattern();
    if (rule.has_weight_decay()) added.weight_decay = rule.weight_decay();
    if (rule.has_lr_factor()) added.lr_factor = rule.lr_factor();
    if (rule.has_trust()) added.trust = rule.trust();
  }
  optim::apply_rules(optimized, config.optimizer().weight_decay(), rules);
  const TrainConfig::Optimizer& settings = config.optimizer();
  return optim::make_optimizer(settings.name(),
                               {.momentum = settings.momentum(),
                                .nesterov = settings.nesterov(),
                                .beta1 = settings.beta1(),
                                .beta2 = settings.beta2(),
                                .epsilon = settings.epsilon(),
                                .trust_coefficient = settings.trust_coefficient()},
                               std::move(optimized), own.optimizers);
}

}  // namespace lockstep::train
