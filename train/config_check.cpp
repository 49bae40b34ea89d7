#include "train/config_check.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <sstream>

#include "comm/algorithms/selection.h"
#include "parallel/loss_scaler.h"
#include "runtime/error.h"
#include "train/nearest_name.h"

namespace lockstep::train {
namespace {

constexpr int64_t kMostSamples = int64_t{1} << 40;
constexpr double kMostSeconds = 1e9;  // 30 years; clocks count nanoseconds in 64 bits
constexpr double kUnlimited = std::numeric_limits<double>::max();  // finite: neither infinity nor NaN passes

// f32 has them times the count of a step's items, by which gradients are divided.
constexpr double kLeastLossScale = 0x1p-100;
constexpr double kMostLossScale = 0x1p100;

/// Gathers what is wrong, a line for each mistake.
class Mistakes {
 public:
  template <class T>
  void require(bool condition, const char* field, const T& value, const std::string& expected) {
    if (condition) return;
    text_ << "\n  " << field << " = " << std::boolalpha << value << ": expected " << expected;
    ++count_;
  }
  /// low <= value <= high; written so that NaN fails.
  template <class T>
  void range(const char* field, T value, T low, T high) {
    require(value >= low && value <= high, field, value, range_text(low, high));
  }
  void at_least(const char* field, int64_t value, int64_t low) {
    require(value >= low && value <= kMostSamples, field, value, range_text(low, kMostSamples));
  }
  void positive(const char* field, double value) {
    require(value > 0 && value <= kUnlimited, field, value, "a finite number above 0");
  }
  void not_negative(const char* field, double value) {
    require(value >= 0 && value <= kUnlimited, field, value, "a finite number, 0 or more");
  }
  void seconds(const char* field, double value) {
    require(value > 0 && value <= kMostSeconds, field, value,
            to_text("seconds above 0, at most ", kMostSeconds));
  }
  void part(const char* field, double value) {
    require(value >= 0 && value < 1, field, value, "a number in [0, 1)");
  }
  void share(const char* field, double value) {
    require(value > 0 && value <= 1, field, value, "a number above 0, at most 1");
  }
  void power_of_two(const char* field, double value, double low, double high) {
    int exponent = 0;
    require(std::frexp(value, &exponent) == 0.5 && value >= low && value <= high, field,
            parallel::scale_text(value),
            "a power of two, " + parallel::scale_text(low) + " to " + parallel::scale_text(high));
  }
  void name(const char* field, const std::string& value, const std::vector<std::string>& known) {
    const bool found = std::find(known.begin(), known.end(), value) != known.end();
    require(found, field, '"' + value + '"', "a known name" + (found ? "" : known_names_hint(value, known)));
  }

  /// What `parse` finds wrong with the value.
  void parsed(const char* field, const std::string& value, const std::function<void()>& parse) {
    try {
      parse();
    } catch (const InvalidArgument& error) {
      const std::string_view text = error.what();
      text_ << "\n  " << field << " = \"" << value << "\": " << text.substr(text.find(']') + 2);
      ++count_;
    }
  }

  void throw_if_any() const {
    check<ConfigError>(count_ == 0, "config", count_, count_ == 1 ? " mistake:" : " mistakes:", text_.str());
  }

 private:
  template <class T>
  static std::string range_text(T low, T high) {
    return high == std::numeric_limits<T>::max() ? to_text(low, " or more") : to_text(low, " to ", high);
  }
  int count_ = 0;
  std::ostringstream text_;
};

void check_model(const TrainConfig::Model& model, const KnownNames& known, Mistakes& mistakes) {
  mistakes.name("model.name", model.name(), known.models);
  for (const int32_t width : model.hidden()) mistakes.range("model.hidden", width, 1, 1 << 20);
  mistakes.part("model.dropout", model.dropout());
  mistakes.range("model.layers", model.layers(), 0, 4096);
  mistakes.range("model.heads", model.heads(), 0, 4096);
  mistakes.range("model.width", model.width(), 0, 1 << 20);
  mistakes.range("model.patch", model.patch(), 0, 4096);
}

void check_pictures(const TrainConfig::Data& data, Mistakes& mistakes) {
  mistakes.range("data.image.size", data.image().size(), 1, 1 << 14);
  mistakes.require(data.image().channels() == 1 || data.image().channels() == 3, "data.image.channels",
                   data.image().channels(), "1 or 3");
  mistakes.share("data.image.center_crop", data.image().center_crop());
  mistakes.range("data.sequence_length", data.sequence_length(), 1, 1 << 20);
  const TrainConfig::Augment& augment = data.augment();
  mistakes.share("data.augment.min_area", augment.min_area());
  mistakes.require(augment.max_area() >= augment.min_area() && augment.max_area() <= 1,
                   "data.augment.max_area", augment.max_area(),
                   to_text("a number from min_area, which is ", augment.min_area(), ", to 1"));
  mistakes.positive("data.augment.min_aspect", augment.min_aspect());
  mistakes.require(augment.max_aspect() >= augment.min_aspect() && augment.max_aspect() <= kUnlimited,
                   "data.augment.max_aspect", augment.max_aspect(),
                   to_text("a finite number from min_aspect, which is ", augment.min_aspect()));
  mistakes.not_negative("data.augment.brightness", augment.brightness());
  mistakes.not_negative("data.augment.contrast", augment.contrast());
  mistakes.not_negative("data.augment.saturation", augment.saturation());
  mistakes.range("data.augment.hue", augment.hue(), 0.0, 0.5);
}

void check_data(const TrainConfig::Data& data, const KnownNames& known, Mistakes& mistakes) {
  mistakes.name("data.name", data.name(), known.data);
  mistakes.at_least("data.train_limit", data.train_limit(), 0);
  mistakes.at_least("data.test_limit", data.test_limit(), 0);
  mistakes.require(data.mean_size() == data.deviation_size(), "data.deviation",
                   to_text(data.deviation_size(), " values"),
                   to_text("as many as data.mean has, which is ", data.mean_size()));
  for (const double mean : data.mean())
    mistakes.require(std::isfinite(mean), "data.mean", mean, "a finite number");
  for (const double deviation : data.deviation()) mistakes.positive("data.deviation", deviation);
  mistakes.range("data.augment.crop_padding", data.augment().crop_padding(), 0, 1024);
  mistakes.range("data.loader_threads", data.loader_threads(), 0, 256);
  mistakes.range("data.classes", data.classes(), 0, 1 << 20);
  check_pictures(data, mistakes);
  mistakes.range("data.prefetch", data.prefetch(), 1, 4096);

  const TrainConfig::Synthetic& synthetic = data.synthetic();
  mistakes.at_least("data.synthetic.train_samples", synthetic.train_samples(), 1);
  mistakes.at_least("data.synthetic.test_samples", synthetic.test_samples(), 1);
  mistakes.range("data.synthetic.channels", synthetic.channels(), 1, 4096);
  mistakes.range("data.synthetic.height", synthetic.height(), 1, 1 << 16);
  mistakes.range("data.synthetic.width", synthetic.width(), 1, 1 << 16);
}

void check_portions(const TrainConfig& config, Mistakes& mistakes) {
  mistakes.range<int64_t>("global_batch", config.global_batch(), 1, int64_t{1} << 24);
  const int64_t most = config.global_batch() >= 1 ? config.global_batch() : config.micro_batch();
  mistakes.require(config.micro_batch() >= 1 && config.micro_batch() <= most, "micro_batch",
                   config.micro_batch(), to_text("1 to global_batch, which is ", config.global_batch()));
  mistakes.at_least("epochs", config.epochs(), 0);
  mistakes.at_least("max_steps", config.max_steps(), 0);
  mistakes.require(config.epochs() != 0 || config.max_steps() != 0, "epochs", config.epochs(),
                   "1 or more, since max_steps is 0 too and the run would never end");
  mistakes.range("threads", config.threads(), 0, 1024);
  const int32_t slots = config.virtual_ranks();
  mistakes.require(slots >= 1 && slots <= 65536 && std::has_single_bit(static_cast<uint32_t>(slots)),
                   "virtual_ranks", slots, "a power of two, 1 to 65536");
  mistakes.require(config.precision() != TrainConfig::FP16, "precision",
                   TrainConfig::Precision_Name(config.precision()),
                   "FP32 or BF16; FP16 would be no faster on a CPU and has too small a range");
}

void check_optimizer(const TrainConfig::Optimizer& optimizer, const KnownNames& known, Mistakes& mistakes) {
  mistakes.name("optimizer.name", optimizer.name(), known.optimizers);
  mistakes.not_negative("optimizer.lr", optimizer.lr());
  mistakes.part("optimizer.momentum", optimizer.momentum());
  mistakes.require(!optimizer.nesterov() || optimizer.momentum() != 0, "optimizer.nesterov",
                   optimizer.nesterov(), "false, since optimizer.momentum is 0");
  mistakes.not_negative("optimizer.weight_decay", optimizer.weight_decay());
  mistakes.part("optimizer.beta1", optimizer.beta1());
  mistakes.part("optimizer.beta2", optimizer.beta2());
  mistakes.not_negative("optimizer.epsilon", optimizer.epsilon());
  const bool divides = optimizer.name() == "adamw" || optimizer.name() == "lamb";
  mistakes.require(
      !divides || optimizer.epsilon() != 0, "optimizer.epsilon", optimizer.epsilon(),
      "a number above 0, since " + optimizer.name() + " divides by the root of a mean that may be 0");
  mistakes.positive("optimizer.trust_coefficient", optimizer.trust_coefficient());
  for (const TrainConfig::ParameterRule& rule : optimizer.rules()) {
    mistakes.require(!rule.pattern().empty(), "optimizer.rules.pattern", "\"\"",
                     "a pattern, for example \"*.bias\"");
    mistakes.not_negative("optimizer.rules.weight_decay", rule.weight_decay());
    mistakes.not_negative("optimizer.rules.lr_factor", rule.lr_factor());
  }
}

void check_schedule(const TrainConfig::Schedule& schedule, const KnownNames& known, Mistakes& mistakes) {
  mistakes.name("schedule.name", schedule.name(), known.schedules);
  mistakes.not_negative("schedule.warmup_epochs", schedule.warmup_epochs());
  mistakes.range("schedule.warmup_start_factor", schedule.warmup_start_factor(), 0.0, 1.0);
  double previous = 0;
  for (const double milestone : schedule.milestones()) {
    mistakes.require(milestone > previous && milestone <= kUnlimited, "schedule.milestones", milestone,
                     "epochs above 0, each later than the one before");
    previous = milestone;
  }
  mistakes.positive("schedule.gamma", schedule.gamma());
  mistakes.positive("schedule.power", schedule.power());
  mistakes.not_negative("schedule.end_lr", schedule.end_lr());
  mistakes.at_least("schedule.base_batch", schedule.base_batch(), 1);
}

void check_loss_scaling(const TrainConfig& config, Mistakes& mistakes) {
  const TrainConfig::LossScaling& scaling = config.loss_scaling();
  mistakes.at_least("loss_scaling.growth_interval", scaling.growth_interval(), 1);
  mistakes.at_least("loss_scaling.max_skips_in_a_row", scaling.max_skips_in_a_row(), 1);
  mistakes.power_of_two("loss_scaling.floor", scaling.floor(), kLeastLossScale, kMostLossScale);
  mistakes.power_of_two("loss_scaling.cap", scaling.cap(), scaling.floor(), kMostLossScale);
  if (scaling.mode() == TrainConfig::LossScaling::DYNAMIC) {
    mistakes.power_of_two("loss_scale", config.loss_scale(), scaling.floor(), scaling.cap());
  } else {
    mistakes.positive("loss_scale", config.loss_scale());
  }
}

void check_comm(const TrainConfig::Comm& comm, bool reproducible, Mistakes& mistakes) {
  mistakes.require(comm.backend() == TrainConfig::Comm::MPI, "comm.backend",
                   TrainConfig::Comm::Backend_Name(comm.backend()), "MPI, the only one in this version");
  if (comm.algorithm() != "auto") {
    mistakes.parsed("comm.algorithm", comm.algorithm(),
                    [&] { comm::parse_selection(comm.algorithm(), reproducible); });
  }
  mistakes.range<int64_t>("comm.bucket_bytes", comm.bucket_bytes(), 1024, int64_t{1} << 30);
  mistakes.seconds("comm.timeout_seconds", comm.timeout_seconds());
  mistakes.seconds("comm.start_timeout_seconds", comm.start_timeout_seconds());
}

void check_output(const TrainConfig& config, Mistakes& mistakes) {
  mistakes.at_least("checkpoint.every_steps", config.checkpoint().every_steps(), 0);
  mistakes.at_least("checkpoint.every_epochs", config.checkpoint().every_epochs(), 0);
  mistakes.range("checkpoint.keep", config.checkpoint().keep(), 1, 1 << 20);
  mistakes.seconds("checkpoint.timeout_seconds", config.checkpoint().timeout_seconds());
  mistakes.at_least("metrics.every", config.metrics().every(), 1);
  mistakes.at_least("metrics.hash_every", config.metrics().hash_every(), 0);
}

void check_evaluation(const TrainConfig::Evaluation& evaluation, const KnownNames& known,
                      Mistakes& mistakes) {
  mistakes.at_least("evaluation.every_epochs", evaluation.every_epochs(), 0);
  mistakes.range<int64_t>("evaluation.batch", evaluation.batch(), 1, int64_t{1} << 24);
  std::set<std::string> seen;
  for (const std::string& metric : evaluation.metrics()) {
    mistakes.name("evaluation.metrics", metric, known.metrics);
    mistakes.require(seen.insert(metric).second, "evaluation.metrics", '"' + metric + '"', "each name once");
  }
  mistakes.at_least("evaluation.patience", evaluation.patience(), 0);
  mistakes.not_negative("evaluation.min_improvement", evaluation.min_improvement());
}

}  // namespace

void validate(const TrainConfig& config, const KnownNames& known) {
  Mistakes mistakes;
  check_model(config.model(), known, mistakes);
  check_data(config.data(), known, mistakes);
  check_portions(config, mistakes);
  check_optimizer(config.optimizer(), known, mistakes);
  check_schedule(config.schedule(), known, mistakes);
  mistakes.name("loss.name", config.loss().name(), known.losses);
  mistakes.part("loss.label_smoothing", config.loss().label_smoothing());
  check_loss_scaling(config, mistakes);
  check_comm(config.comm(), config.numerics() == TrainConfig::REPRODUCIBLE, mistakes);
  check_output(config, mistakes);
  check_evaluation(config.evaluation(), known, mistakes);
  mistakes.part("average_decay", config.average_decay());
  const TrainConfig::InitFrom& init_from = config.init_from();
  mistakes.require(!init_from.path().empty() || (init_from.skip().empty() && !init_from.lenient()),
                   "init_from.path", "\"\"",
                   "a file or a run directory, since init_from says how to load it");
  mistakes.throw_if_any();
}

void validate_for(const TrainConfig& config, int ranks) {
  Mistakes mistakes;
  mistakes.require(ranks <= config.virtual_ranks(), "virtual_ranks", config.virtual_ranks(),
                   to_text("at least the number of ranks, which is ", ranks,
                           "; runs with different virtual_ranks differ in their bits"));
  mistakes.throw_if_any();
}

}  // namespace lockstep::train
