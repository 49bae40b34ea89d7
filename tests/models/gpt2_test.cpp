#include "models/gpt2.h"

#include <gtest/gtest.h>

#include <mutex>

#include "ops/cross_entropy/cross_entropy.h"
#include "ops/reshape/reshape.h"
#include "parallel/data_parallel.h"
#include "runtime/autograd.h"
#include "runtime/error.h"
#include "tests/models/golden_values.h"
#include "tests/models/sgd_training.h"
#include "tests/support/expect_error.h"
#include "tests/support/run_ranks.h"

namespace lockstep::models {
namespace {

const ModelOptions kSmall{
    .input = {16}, .classes = 65, .batch_norm = true, .layers = 2, .heads = 2, .width = 32};

/// tokens [n, t + 1]: each is to be predicted from those before it.
ops::LossResult loss_of(const Tensor& logits, const Tensor& tokens) {
  const Tensor targets = tokens.narrow(1, 1, tokens.dim(1) - 1).contiguous().view({-1});
  return ops::cross_entropy(ops::reshape(logits, {-1, logits.dim(2)}), targets);
}

Tensor inputs_of(const Tensor& tokens) {
  return tokens.narrow(1, 0, tokens.dim(1) - 1);
}

TEST(Gpt2, TrainsAsInPyTorch) {
  constexpr double kTolerance = 2e-5;  // relative, of sums of hundreds of f32 products in another order
  const test::Golden golden = test::load_golden("gpt2.safetensors");
  const auto model = make_gpt2(kSmall);
  copy_by_name("golden", test::with_prefix(golden, "before."), state_tensors(*model));
  const auto sgd = test::bind_optimizer(*model);
  for (int64_t step = 0; step < golden.at("tokens").dim(0); ++step) {
    const Tensor tokens = test::row(golden.at("tokens"), step);
    test::clear_gradients(*model);
    const Tensor logits = model->forward(inputs_of(tokens), {.training = true});
    const auto loss = loss_of(logits, tokens);
    backward(loss.sum);
    test::expect_near_golden(loss.sum.detach(), test::row(golden.at("losses"), step), kTolerance,
                             to_text("loss of step ", step));
    if (step == 0) {
      test::expect_near_golden(logits.detach(), golden.at("logits"), kTolerance, "logits");
      test::expect_golden_gradients(*model, golden, kTolerance);
    }
    sgd->step({.lr = 0.05, .gradient_divisor = loss.weight});
  }
  for (const NamedTensor& tensor : state_tensors(*model)) {
    test::expect_near_golden(tensor.value, golden.at("after." + tensor.name), kTolerance, tensor.name);
  }
}

int64_t parameter_count(Module& model) {
  int64_t count = 0;
  for (const Parameter* parameter : parameters(model)) count += parameter->value.count();
  return count;
}

TEST(Gpt2, HasTheParametersOfTheUsualFiles) {
  const auto narrow = make_gpt2({.input = {8}, .classes = 5, .width = 24});
  EXPECT_EQ(parameters(*narrow).size(), 2U + 12 * 12 + 2);
  EXPECT_EQ(parameters(*narrow).back()->name, "ln_f.bias");

  const auto wide = make_gpt2({.input = {8}, .classes = 5, .layers = 1});
  // 12 such blocks, 50257 tokens and 1024 places: 124,439,808.
  EXPECT_EQ(parameter_count(*wide), (5 + 8) * 768 + 7'087'872 + 2 * 768);
  std::vector<std::string> names;
  for (const Parameter* parameter : parameters(*wide)) names.push_back(parameter->name);
  EXPECT_EQ(names,
            (std::vector<std::string>{
                "wte.weight", "wpe.weight", "h.0.ln_1.weight", "h.0.ln_1.bias", "h.0.attn.c_attn.weight",
                "h.0.attn.c_attn.bias", "h.0.attn.c_proj.weight", "h.0.attn.c_proj.bias", "h.0.ln_2.weight",
                "h.0.ln_2.bias", "h.0.mlp.c_fc.weight", "h.0.mlp.c_fc.bias", "h.0.mlp.c_proj.weight",
                "h.0.mlp.c_proj.bias", "ln_f.weight", "ln_f.bias"}));
  EXPECT_EQ(parameters(*wide)[4]->value.shape(), (Shape{768, 2304}));
}

TEST(Gpt2, StartsSmallAndSmallerWhereBranchesEnd) {
  const auto model = make_gpt2(kSmall);
  for (const Parameter* parameter : parameters(*model)) {
    const std::string& name = parameter->name;
    const Initializer& initializer = parameter->initializer;
    if (name.ends_with("bias") || name.find("ln_") != std::string::npos) {
      EXPECT_EQ(initializer.kind, Initializer::Kind::kConstant) << name;
      EXPECT_EQ(initializer.center, name.ends_with("bias") ? 0 : 1) << name;
    } else {
      EXPECT_EQ(initializer.kind, Initializer::Kind::kNormal) << name;
      EXPECT_EQ(initializer.spread, name.ends_with("c_proj.weight") ? 0.01 : 0.02) << name;
    }
  }
}

TEST(Gpt2, LaterTokensDoNotChangeEarlierLogits) {
  const auto model = make_gpt2(kSmall);
  initialize(*model, 1);
  const NoGrad no_grad;
  Tensor tokens = Tensor::full({1, 16}, 3, DType::kI64);
  const auto logits = [&](int64_t first, int64_t count) {
    return model->forward(tokens, {}).narrow(1, first, count).to_vector<float>();
  };
  const auto before = logits(0, 9);
  const auto last = logits(9, 1);
  tokens.data<int64_t>()[9] = 5;
  EXPECT_EQ(logits(0, 9), before);
  EXPECT_NE(logits(9, 1), last);
}

TEST(Gpt2, DropoutChangesTrainingOnly) {
  ModelOptions options = kSmall;
  const auto plain = make_gpt2(options);
  options.dropout = 0.2;
  const auto with_dropout = make_gpt2(options);
  initialize(*plain, 1);
  initialize(*with_dropout, 1);
  const Tensor tokens = Tensor::full({1, 4}, 3, DType::kI64);
  const auto logits = [&](Module& model, bool training) {
    return model.forward(tokens, {.training = training}).to_vector<float>();
  };
  EXPECT_EQ(logits(*plain, false), logits(*with_dropout, false));
  EXPECT_NE(logits(*plain, true), logits(*with_dropout, true));
}

/// Gradients of all parameters after two steps, the second of which finds the first one's in the buffers.
std::vector<std::vector<float>> gradients_on(int ranks, const Tensor& tokens) {
  std::vector<std::vector<float>> gradients;
  std::mutex mutex;
  test::run_ranks(ranks, [&](comm::Communicator& communicator) {
    const auto model = make_gpt2(kSmall);
    initialize(*model, 1);
    parallel::DistributedDataParallel ddp(
        parameters(*model), {}, communicator,
        {.virtual_ranks = 4, .buckets = {.bucket_bytes = 1 << 14, .first_bucket_bytes = 1 << 12}});
    const parallel::StepPlan plan =
        parallel::plan_step(tokens.dim(0), 2, 4, communicator.size(), communicator.rank());
    for (int step = 0; step < 2; ++step) {
      ddp.step(plan, {}, [&](const parallel::MicroBatch& micro_batch, std::span<double>) {
        const Tensor part = tokens.narrow(0, micro_batch.first, micro_batch.count);
        return loss_of(model->forward(inputs_of(part), {.training = true}), part).sum;
      });
    }
    std::vector<std::vector<float>> mine;
    for (size_t i = 0; i < parameters(*model).size(); ++i) mine.push_back(ddp.gradient(i).to_vector<float>());
    const std::lock_guard lock(mutex);
    if (gradients.empty()) gradients = mine;
    EXPECT_EQ(mine, gradients) << "ranks disagree";
  });
  return gradients;
}

// The table of tokens is used twice in a graph: its gradient is ready after the second use.
TEST(Gpt2, GradientsHaveTheSameBitsOnAnyNumberOfRanks) {
  const int64_t samples = 15;
  Tensor tokens = Tensor::empty({samples, 9}, DType::kI64);
  for (int64_t i = 0; i < tokens.count(); ++i) tokens.data<int64_t>()[i] = i * i % 65;
  const auto alone = gradients_on(1, tokens);
  for (const int ranks : {2, 4}) EXPECT_EQ(gradients_on(ranks, tokens), alone) << ranks << " ranks";

  const auto model = make_gpt2(kSmall);
  initialize(*model, 1);
  backward(loss_of(model->forward(inputs_of(tokens), {}), tokens).sum);
  for (size_t i = 0; i < alone.size(); ++i) {
    const Parameter& parameter = *parameters(*model)[i];
    test::expect_near_golden(Tensor::from(alone[i], parameter.value.shape()), parameter.value.grad(), 1e-5,
                             parameter.name);
  }
}

TEST(Gpt2, RefusesWrongSizes) {
  const auto make = [](const ModelOptions& options) { return [=] { make_gpt2(options); }; };
  test::expect_error<ConfigError>(make({.input = {3, 8, 8}, .classes = 5}),
                                  "[gpt2] input: expected [length] of tokens, got [3, 8, 8]");
  test::expect_error<ConfigError>(make({.input = {8}, .classes = 5, .heads = 5, .width = 16}),
                                  "[gpt2] heads: expected a divisor of the width 16, got 5");
  test::expect_error<ConfigError>(make({.input = {8}, .classes = 5, .patch = 2}),
                                  "[gpt2] patch is set, which this model does not read");
  const auto model = make_gpt2(kSmall);
  test::expect_error<InvalidArgument>(
      [&] {
        model->forward(Tensor::zeros({2, 17}, DType::kI64), {});
      },
      "[gpt2] expected tokens [n, t] with t <= 16, got [2, 17]");
  test::expect_error<InvalidArgument>(
      [&] {
        model->forward(Tensor::full({1, 2}, 65, DType::kI64), {});
      },
      "[embedding] index 0 of shape [1, 2] is 65: expected one in [0, 65)");
}

}  // namespace
}  // namespace lockstep::models
