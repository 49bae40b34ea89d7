// From a configuration to the parts of a run: data, model, optimizer, schedule.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "data/augment.h"
#include "data/loader.h"
#include "data/source.h"
#include "models/module.h"
#include "optim/lr_schedule.h"
#include "optim/optimizer.h"
#include "parallel/data_parallel.h"
#include "proto/train_config.pb.h"
#include "train/best_so_far.h"
#include "train/config_check.h"
#include "train/evaluation.h"
#include "train/extensions.h"
#include "train/objective.h"
#include "train/training_plan.h"

namespace lockstep::train {

/// Every name that a configuration of this program can use. Throws ConfigError when a name occurs twice, or a
/// metric has that of another figure.
KnownNames known_names(const Extensions& own = {});

std::unique_ptr<data::DataSource> make_source(const TrainConfig& config, data::Split split,
                                              const Extensions& own = {});
/// How many samples of the source are used.
int64_t sample_count(const TrainConfig& config, const data::DataSource& source, data::Split split);
/// For images as `spec` says; evaluation only normalises. Throws ConfigError when a setting does not fit
/// them.
data::AugmentOptions augment_options(const TrainConfig& config, const data::SampleSpec& spec,
                                     data::Split split);
/// A bad sample may be replaced in training, which needs full batches; evaluation counts each sample once, so
/// there it is left out.
data::LoaderOptions loader_options(const TrainConfig& config, data::Split split);

/// With its first values drawn from the seed.
std::unique_ptr<models::Module> make_model(const TrainConfig& config, const data::SampleSpec& spec,
                                           const Extensions& own = {});
Objective make_objective(const TrainConfig& config, const Extensions& own = {});
/// Over the evaluation data, or as much of it as the configuration says.
EvaluationOptions evaluation_options(const TrainConfig& config, const data::DataSource& source);
/// Which evaluation is the best, and when to stop.
BestSoFarOptions best_options(const TrainConfig& config, const Extensions& own = {});

TrainingPlan make_plan(const TrainConfig& config, int64_t samples);
/// The full learning rate, after scaling with the batch.
double scaled_lr(const TrainConfig& config);
optim::LrSchedule make_schedule(const TrainConfig& config, const TrainingPlan& plan);

/// Updates the parameters in the order of their memory.
std::unique_ptr<optim::Optimizer> make_optimizer(const TrainConfig& config,
                                                 const std::vector<Parameter*>& parameters,
                                                 parallel::DistributedDataParallel& data_parallel,
                                                 const Extensions& own = {});

}  // namespace lockstep::train
