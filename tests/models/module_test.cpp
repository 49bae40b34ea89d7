#include "models/module.h"

#include <gtest/gtest.h>

#include "models/layers.h"
#include "runtime/error.h"
#include "tests/support/expect_error.h"

namespace lockstep::models {
namespace {

/// A module with one thing of each kind.
class Leaf final : public Module {
 public:
  Leaf()
      : weight(add_parameter("weight", {2, 3}, Initializer::uniform(1))),
        mean(add_statistic("mean", 3, 0.1, 5)),
        counter(add_counter("steps")) {}
  Tensor forward(const Tensor& input, const ForwardContext&) override { return input; }

  using Module::add_counter;
  using Module::add_module;
  using Module::add_parameter;
  using Module::add_statistic;
  Parameter& weight;
  RunningStatistic& mean;
  Tensor counter;
};

/// Registers its own parameter after its children.
class Branch final : public Module {
 public:
  Branch() : left(add_module<Leaf>("left")), right(add_module<Leaf>("right")) {
    add_parameter("scale", {1}, Initializer::constant(2));
  }
  Tensor forward(const Tensor& input, const ForwardContext&) override { return input; }
  Leaf& left;
  Leaf& right;
};

class Root final : public Module {
 public:
  Root() : branch(add_module<Branch>("branch")), leaf(add_module<Leaf>("leaf")) {}
  Tensor forward(const Tensor& input, const ForwardContext&) override { return input; }
  Branch& branch;
  Leaf& leaf;
};

template <class T>
std::vector<std::string> names(const std::vector<T*>& things) {
  std::vector<std::string> found;
  for (const T* thing : things) found.push_back(thing->name);
  return found;
}

TEST(Module, WalksInRegistrationOrderWithFullNames) {
  Root root;
  EXPECT_EQ(modules(root).size(), 5U);
  EXPECT_EQ(names(parameters(root)), (std::vector<std::string>{"branch.scale", "branch.left.weight",
                                                               "branch.right.weight", "leaf.weight"}));
  EXPECT_EQ(names(statistics(root)),
            (std::vector<std::string>{"branch.left.mean", "branch.right.mean", "leaf.mean"}));
}

TEST(Module, ReferencesOfAModuleAreTheOnesThatAreWalked) {
  Root root;
  EXPECT_EQ(parameters(root)[2], &root.branch.right.weight);
  EXPECT_EQ(statistics(root)[2], &root.leaf.mean);
  EXPECT_TRUE(root.leaf.weight.value.requires_grad());
}

TEST(Module, StateTensorsAreTheLiveMemory) {
  Root root;
  root.leaf.weight.value = Tensor::full({2, 3}, 7);  // as when its memory moves
  *root.leaf.counter.data<int64_t>() = 12;
  const auto state = state_tensors(root);
  std::vector<std::string> found;
  for (const NamedTensor& tensor : state) found.push_back(tensor.name);
  EXPECT_EQ(found,
            (std::vector<std::string>{"branch.scale", "branch.left.weight", "branch.left.mean",
                                      "branch.left.steps", "branch.right.weight", "branch.right.mean",
                                      "branch.right.steps", "leaf.weight", "leaf.mean", "leaf.steps"}));
  EXPECT_EQ(state[7].value.to_vector<float>(), std::vector<float>(6, 7));
  EXPECT_EQ(state[8].value.to_vector<float>(), std::vector<float>(3, 5));
  EXPECT_EQ(state[9].value.dtype(), DType::kI64);
  EXPECT_EQ(state[9].value.item(), 12);
}

TEST(Module, NamesAreUniqueAndWithoutDots) {
  Leaf leaf;
  const auto initializer = Initializer::constant(0);
  test::expect_error<InvalidArgument>([&] { leaf.add_parameter("weight", {1}, initializer); },
                                      "the name \"weight\" is taken already");
  test::expect_error<InvalidArgument>([&] { leaf.add_statistic("weight", 1, 0.1, 0); }, "is taken");
  test::expect_error<InvalidArgument>([&] { leaf.add_counter("mean"); }, "is taken");
  test::expect_error<InvalidArgument>([&] { leaf.add_module<Relu>("steps"); }, "is taken");
  test::expect_error<InvalidArgument>([&] { leaf.add_module<Relu>("a.b"); }, "contain a dot, got \"a.b\"");
  test::expect_error<InvalidArgument>([&] { leaf.add_module<Relu>(""); }, "must not be empty");
}

TEST(Module, InitializeIsAFunctionOfSeedAndPosition) {
  Root first;
  Root second;
  initialize(first, 1);
  initialize(second, 1);
  EXPECT_EQ(first.leaf.weight.value.to_vector<float>(), second.leaf.weight.value.to_vector<float>());
  EXPECT_NE(first.leaf.weight.value.to_vector<float>(), first.branch.left.weight.value.to_vector<float>());
  EXPECT_EQ(parameters(first)[0]->value.item(), 2);
  initialize(second, 2);
  EXPECT_NE(first.leaf.weight.value.to_vector<float>(), second.leaf.weight.value.to_vector<float>());
}

/// Draws nothing, but says which random layer it is.
class Numbered final : public Module {
 public:
  Numbered() { add_random_layer(); }
  Tensor forward(const Tensor&, const ForwardContext&) override {
    return Tensor::scalar(static_cast<float>(random_layer()));
  }
};

TEST(Module, RandomLayersAreNumberedThroughTheWholeModel) {
  Sequential root;
  std::vector<Module*> numbered{&root.add<Numbered>("first")};
  for (const char* name : {"left", "right"}) {
    auto inner = std::make_unique<Sequential>();
    numbered.push_back(&inner->add<Numbered>("a"));
    inner->add<Relu>("relu");
    numbered.push_back(&inner->add<Numbered>("b"));
    root.add(name, std::move(inner));
  }
  numbered.push_back(&root.add<Numbered>("last"));
  std::vector<double> numbers;
  for (Module* module : numbered) numbers.push_back(module->forward({}, {}).item());
  EXPECT_EQ(numbers, (std::vector<double>{0, 1, 2, 3, 4, 5}));
}

// Names and numbers were given out when it was added; what comes later would have none.
TEST(Module, APartOfAModelIsComplete) {
  Sequential root;
  auto& inner = root.add<Sequential>("inner");
  test::expect_error<InvalidArgument>([&] { inner.add<Relu>("relu"); },
                                      "cannot add \"relu\" to a module that is already part of another one");
}

TEST(Forward, CastsNumbersButNotIndicesToTheContextsType) {
  Leaf model;
  const ForwardContext bf16{.compute = DType::kBF16};
  EXPECT_EQ(forward(model, Tensor::zeros({2}), bf16).dtype(), DType::kBF16);
  EXPECT_EQ(forward(model, Tensor::zeros({2}, DType::kI64), bf16).dtype(), DType::kI64);
  const Tensor x = Tensor::zeros({2});
  EXPECT_TRUE(forward(model, x, {}).same_memory(x));
}

}  // namespace
}  // namespace lockstep::models
