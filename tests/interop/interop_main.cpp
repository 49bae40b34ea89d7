// interop_model write|read FOLDER [FIELD=VALUE]...
//
// Puts the model of a configuration to work on the tensor "input" of FOLDER/input.safetensors, [n, ...]:
//   write   draws the model, also what a training run starts with as a constant, shows it the input once in
//           training, so that batch norms have seen something, and saves FOLDER/model.safetensors as a
//           training run does
//   read    loads FOLDER/model.safetensors; names and shapes must match one to one
// Both save what the model says of the input in evaluation as "logits" of FOLDER/logits.safetensors.
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "runtime/autograd.h"
#include "runtime/error.h"
#include "train/assembly.h"
#include "train/config.h"
#include "train/config_set.h"
#include "train/safetensors.h"

namespace lockstep {
namespace {

struct Arguments {
  std::string action;
  std::string folder;
  TrainConfig config;
};

Arguments parse(const std::vector<std::string>& words) {
  constexpr size_t kFirstField = 3;
  check(words.size() >= kFirstField && (words[1] == "write" || words[1] == "read"), "interop_model",
        "usage: interop_model write|read FOLDER [FIELD=VALUE]...");
  Arguments arguments{words[1], words[2], train::default_config()};
  for (size_t i = kFirstField; i < words.size(); ++i) train::apply_set(arguments.config, words[i]);
  return arguments;
}

Tensor read_input(const std::string& folder) {
  const std::vector<NamedTensor> tensors = train::load_safetensors(folder + "/input.safetensors");
  check<DataError>(tensors.size() == 1 && tensors[0].name == "input" && tensors[0].value.ndim() > 1,
                   "interop_model", "expected one tensor \"input\", [n, ...]");
  return tensors[0].value;
}

std::unique_ptr<models::Module> make_model(const TrainConfig& config, const Tensor& input) {
  data::SampleSpec spec;
  for (int dim = 1; dim < input.ndim(); ++dim) spec.shape.push_back(input.dim(dim));
  spec.dtype = input.dtype();
  spec.classes = config.data().classes();
  return train::make_model(config, spec);
}

/// Scales that are all 1, and heads that are all 0, would hide mistakes.
void draw_constants(models::Module& model) {
  uint64_t position = 0;
  for (Parameter* parameter : models::parameters(model)) {
    Initializer& initializer = parameter->initializer;
    if (initializer.kind == Initializer::Kind::kConstant) {
      initializer = {Initializer::Kind::kNormal, initializer.center, 0.1};
      initialize(*parameter, 1, position);
    }
    ++position;
  }
}

void run(const Arguments& arguments) {
  const NoGrad no_grad;
  const std::string weights = arguments.folder + "/model.safetensors";
  const Tensor input = read_input(arguments.folder);
  const auto model = make_model(arguments.config, input);
  if (arguments.action == "write") {
    draw_constants(*model);
    model->forward(input, {.training = true});
    train::save_safetensors(weights, models::state_tensors(*model), {{"format", "pt"}});
  } else {
    copy_by_name("interop_model", train::load_safetensors(weights), models::state_tensors(*model));
  }
  const Tensor logits = plain(model->forward(input, {}));
  train::save_safetensors(arguments.folder + "/logits.safetensors", {{"logits", logits}});
}

}  // namespace
}  // namespace lockstep

int main(int count, char** words) {
  try {
    lockstep::run(lockstep::parse({words, words + count}));
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return EXIT_FAILURE;
  }
}
