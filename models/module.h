// A part of a model: registered parameters, statistics and sub-modules, and a forward function.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/parameter.h"

namespace lockstep::models {

struct ForwardContext {
  bool training = false;
  RandomKey random =
      {};  ///< used in training only; one per micro-batch, so that masks do not depend on ranks
  /// What activations are computed in: f32 or bf16. The input comes in it; a layer that looks numbers up
  /// gives them in it; all others follow their input.
  DType compute = DType::kF32;
};

/// A derived class registers what it consists of in its constructor and keeps the references; they stay valid
/// as long as the module. Always read a parameter through its reference: the data-parallel layer may move its
/// memory. A module belongs to one thread.
class Module {
 public:
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  virtual Tensor forward(const Tensor& input, const ForwardContext& context) = 0;

 protected:
  Module() = default;

  // Names are unique within a module and have no dot, and a module is complete before it becomes part of
  // another one: InvalidArgument otherwise.
  Parameter& add_parameter(const std::string& name, const Shape& shape, const Initializer& initializer);
  RunningStatistic& add_statistic(const std::string& name, int64_t count, double momentum, double value);
  /// An i64 scalar, 0, that is saved with the weights; RunningStatistic::observations can share it.
  Tensor add_counter(const std::string& name);
  template <class T, class... Arguments>
  T& add_module(const std::string& name, Arguments&&... arguments) {
    auto module = std::make_unique<T>(std::forward<Arguments>(arguments)...);
    T& reference = *module;
    adopt(name, std::move(module));
    return reference;
  }
  Module& adopt(const std::string& name, std::unique_ptr<Module> module);
  const std::vector<std::unique_ptr<Module>>& children() const { return children_; }

  /// For a module that draws random numbers: gives it a layer number.
  void add_random_layer() { random_layer_ = random_layers_++; }
  /// Unique within the whole model, in registration order.
  uint32_t random_layer() const { return random_layer_; }

 private:
  friend std::vector<Module*> modules(Module& root);
  friend std::vector<Parameter*> parameters(Module& root);
  friend std::vector<RunningStatistic*> statistics(Module& root);
  friend std::vector<NamedTensor> state_tensors(Module& root);

  void claim(const std::string& name);
  void move_under(const std::string& prefix, uint32_t random_layers_before);

  std::set<std::string> names_;
  std::deque<Parameter> parameters_;  // deques keep references valid while they grow
  std::deque<RunningStatistic> statistics_;
  std::vector<NamedTensor> counters_;
  std::vector<std::unique_ptr<Module>> children_;
  bool adopted_ = false;
  uint32_t random_layer_ = 0;
  uint32_t random_layers_ = 0;  // of this module and all below it
};

// Walks over a whole model: a module's own things in registration order, then its sub-modules' in
// registration order. Names are full paths with dots, e.g. "layer1.0.conv1.weight".
std::vector<Module*> modules(Module& root);
std::vector<Parameter*> parameters(Module& root);
std::vector<RunningStatistic*> statistics(Module& root);
/// Everything that a weights file holds, module by module: parameters, statistics, counters. Views of the
/// live memory.
std::vector<NamedTensor> state_tensors(Module& root);

/// What the model makes of `input`; an f32 input is cast to the context's type first.
Tensor forward(Module& model, const Tensor& input, const ForwardContext& context);

/// Draws all parameters anew; each is a pure function of the seed and its position in the walk.
void initialize(Module& root, uint64_t seed);

}  // namespace lockstep::models
