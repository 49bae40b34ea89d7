#include "models/module.h"

#include "ops/cast/cast.h"
#include "runtime/error.h"

namespace lockstep::models {

void Module::claim(const std::string& name) {
  check(!name.empty() && name.find('.') == std::string::npos, "module",
        "a name must not be empty or contain a dot, got \"", name, '"');
  check(!adopted_, "module", "cannot add \"", name, "\" to a module that is already part of another one");
  check(names_.insert(name).second, "module", "the name \"", name, "\" is taken already");
}

Parameter& Module::add_parameter(const std::string& name, const Shape& shape,
                                 const Initializer& initializer) {
  claim(name);
  Tensor value = Tensor::zeros(shape);
  value.set_requires_grad(true);
  return parameters_.emplace_back(Parameter{name, value, initializer});
}

RunningStatistic& Module::add_statistic(const std::string& name, int64_t count, double momentum,
                                        double value) {
  claim(name);
  RunningStatistic& statistic = statistics_.emplace_back();
  statistic.name = name;
  statistic.value = Tensor::full({count}, value);
  statistic.momentum = momentum;
  return statistic;
}

Tensor Module::add_counter(const std::string& name) {
  claim(name);
  return counters_.emplace_back(NamedTensor{name, Tensor::zeros({}, DType::kI64)}).value;
}

Module& Module::adopt(const std::string& name, std::unique_ptr<Module> module) {
  claim(name);
  module->move_under(name + '.', random_layers_);
  random_layers_ += module->random_layers_;
  return *children_.emplace_back(std::move(module));
}

void Module::move_under(const std::string& prefix, uint32_t random_layers_before) {
  adopted_ = true;
  for (Parameter& parameter : parameters_) parameter.name.insert(0, prefix);
  for (RunningStatistic& statistic : statistics_) statistic.name.insert(0, prefix);
  for (NamedTensor& counter : counters_) counter.name.insert(0, prefix);
  random_layer_ += random_layers_before;
  for (const auto& child : children_) child->move_under(prefix, random_layers_before);
}

std::vector<Module*> modules(Module& root) {
  std::vector<Module*> found{&root};
  for (const auto& child : root.children_) {
    for (Module* module : modules(*child)) found.push_back(module);
  }
  return found;
}

std::vector<Parameter*> parameters(Module& root) {
  std::vector<Parameter*> found;
  for (Module* module : modules(root)) {
    for (Parameter& parameter : module->parameters_) found.push_back(&parameter);
  }
  return found;
}

std::vector<RunningStatistic*> statistics(Module& root) {
  std::vector<RunningStatistic*> found;
  for (Module* module : modules(root)) {
    for (RunningStatistic& statistic : module->statistics_) found.push_back(&statistic);
  }
  return found;
}

std::vector<NamedTensor> state_tensors(Module& root) {
  std::vector<NamedTensor> found;
  for (Module* module : modules(root)) {
    for (const Parameter& parameter : module->parameters_) found.push_back({parameter.name, parameter.value});
    for (const RunningStatistic& statistic : module->statistics_)
      found.push_back({statistic.name, statistic.value});
    for (const NamedTensor& counter : module->counters_) found.push_back(counter);
  }
  return found;
}

Tensor forward(Module& model, const Tensor& input, const ForwardContext& context) {
  const bool numbers = input.dtype() == DType::kF32;
  return model.forward(numbers ? ops::cast(input, context.compute) : input, context);
}

void initialize(Module& root, uint64_t seed) {
  uint64_t position = 0;
  for (Parameter* parameter : parameters(root)) lockstep::initialize(*parameter, seed, position++);
}

}  // namespace lockstep::models
