// A configuration as text, and an assignment of --set for it.
#include "train/config.h"

#include "runtime/error.h"
#include "tests/fuzz/target.h"
#include "train/config_check.h"
#include "train/config_fields.h"
#include "train/config_set.h"

namespace lockstep::fuzz {
namespace {

const train::KnownNames& known_names() {
  static const train::KnownNames known{.models = {"cnn", "mlp"},
                                       .data = {"synthetic", "image_folder"},
                                       .optimizers = {"sgd", "lars"},
                                       .losses = {"cross_entropy"},
                                       .metrics = {"accuracy"},
                                       .schedules = {"constant", "step"}};
  return known;
}

void parse(const Bytes& input) {
  const std::vector<Bytes> parts = split_files(input, 2);
  TrainConfig config = train::parse_config(parts[0], "input");
  if (!parts[1].empty()) train::apply_set(config, parts[1]);
  train::validate(config, known_names());
  train::validate_for(config, 4);
  for (const double seconds : {config.comm().timeout_seconds(), config.checkpoint().timeout_seconds()})
    ensure(train::milliseconds(seconds).count() >= 0, "fuzz", "a time of ", seconds, " s");
  const std::string text = train::config_text(config);
  ensure(train::config_text(train::parse_config(text, "printed")) == text, "fuzz", "printed differently");
  train::config_fields(config);
  train::differences(train::default_config(), config);
}

std::vector<Bytes> seeds() {
  const Bytes text =
      "# A comment.\nmodel { name: \"mlp\" hidden: [256, 128] hidden: 3 dropout: 0.25 }\n"
      "data < name: 'synthetic' mean: 0.5 deviation: .25f, augment { flip: true } >\n"
      "global_batch: 0x100; micro_batch: 32 epochs: 12 numerics: FAST\n"
      "optimizer { name: \"lars\" lr: 1e-1 rules { pattern: \"*.bias\" lr_factor: 2 } rules: { pattern: "
      "\"\\x41\" } }\n"
      "schedule { name: \"step\" milestones: [1, 2.5] } evaluation { metrics: [\"accuracy\"] }\n";
  return {join_files({"", ""}),
          join_files({text, ""}),
          join_files({text, "optimizer.lr=0.2"}),
          join_files({text, "model.hidden=1,2,3"}),
          join_files({"", "optimizer.rules={pattern: \"*.bias\" lr_factor: 2},{pattern: \"a,b\"}"}),
          join_files({"", "numerics=FAST"}),
          join_files({"", "init_from.path=a=b"}),
          join_files({"", "model.hidden="})};
}

}  // namespace

const Target kTarget{.parse = parse,
                     .seeds = seeds,
                     .words = {"{",
                               "}",
                               "[",
                               "]",
                               "<",
                               ">",
                               ":",
                               ";",
                               ",",
                               "\"",
                               "'",
                               "#",
                               "=",
                               ".",
                               "-",
                               "\n",
                               "\\",
                               "model",
                               "data",
                               "optimizer",
                               "schedule",
                               "name",
                               "hidden",
                               "rules",
                               "pattern",
                               "lr",
                               "augment",
                               "epochs: 1\n",
                               "fault { kind: HANG }",
                               "[type.googleapis.com/x] {",
                               "nan",
                               "inf",
                               "\\377",
                               "\\u1234",
                               "\xc3\xa4",
                               "true"}};

}  // namespace lockstep::fuzz
