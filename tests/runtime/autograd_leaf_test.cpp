// Where gradients of leaves go, and when their hooks run.
#include <gtest/gtest.h>

#include "runtime/autograd.h"
#include "runtime/error.h"
#include "tests/runtime/reversed_layout.h"
#include "tests/runtime/tiny_ops.h"

namespace lockstep {
namespace {

using Floats = std::vector<float>;

TEST(LeafGradient, LaterBackwardsAddUntilCleared) {
  const Tensor x = leaf({3});
  backward(scale(x, 2));
  backward(scale(x, 5));
  EXPECT_EQ(x.grad().to_vector<float>(), (Floats{7}));
  x.leaf_gradient().clear();
  EXPECT_FALSE(x.grad().defined());
  backward(scale(x, 11));
  EXPECT_EQ(x.grad().to_vector<float>(), (Floats{11}));
}

TEST(LeafGradient, BoundViewReceivesTheGradientInItsOwnMemory) {
  const Tensor x = leaf({1, 2});
  const Tensor bucket = Tensor::full({6}, -1);
  const Tensor view = bucket.narrow(0, 2, 2);
  x.leaf_gradient().bind(view);
  EXPECT_FALSE(x.grad().defined()) << "what is there does not count as a gradient";
  Tensor where;
  const auto contribution = [&](float factor) {
    return record("probe", Tensor::scalar(0), {x}, [&where, factor](BackwardContext& context) {
      where = context.destination(0);
      where.fill(factor);
      context.add(0, where);
    });
  };
  backward(contribution(3));
  EXPECT_TRUE(where.same_memory(view)) << "the first contribution is written without a copy";
  EXPECT_EQ(bucket.to_vector<float>(), (Floats{-1, -1, 3, 3, -1, -1}));
  backward(contribution(4));
  EXPECT_FALSE(where.same_memory(view)) << "a later one must not overwrite the first";
  EXPECT_EQ(bucket.to_vector<float>(), (Floats{-1, -1, 7, 7, -1, -1}));
  EXPECT_TRUE(x.grad().same_memory(view));
}

TEST(LeafGradient, BindingAnotherViewStartsAfresh) {
  const Tensor x = leaf({1});
  const Tensor first = Tensor::zeros({1});
  const Tensor second = Tensor::full({1}, 50);
  x.leaf_gradient().bind(first);
  backward(scale(x, 2));
  x.leaf_gradient().bind(second);
  backward(scale(x, 3));
  EXPECT_EQ(first.item(), 2);
  EXPECT_EQ(second.item(), 3);
}

TEST(LeafGradient, OnlyContiguousF32ViewsCanBeBound) {
  const Tensor x = leaf({1, 2});
  EXPECT_THROW(x.leaf_gradient().bind(Tensor()), InvalidArgument);
  EXPECT_THROW(x.leaf_gradient().bind(Tensor::zeros({2}, DType::kF64)), InvalidArgument);
  EXPECT_THROW(x.leaf_gradient().bind(Tensor::zeros({2, 2}).narrow(1, 0, 1)), InvalidArgument);
}

// An operation fills its destination without looking, so a view that is too small must never be one.
TEST(LeafGradient, AViewOfAnotherShapeIsRefusedBeforeItIsWritten) {
  const Tensor x = leaf({1, 2});
  const Tensor bucket = Tensor::full({2}, -1);
  x.leaf_gradient().bind(bucket.narrow(0, 0, 1));
  EXPECT_THROW(backward(scale(x, 2), {.seed = Tensor::full({2}, 1), .between_nodes = {}}), InvalidArgument);
  EXPECT_EQ(bucket.to_vector<float>(), (Floats{-1, -1}));
}

TEST(LeafGradient, ALeafUsedTwiceGetsBothContributions) {
  const Tensor x = leaf({3});
  backward(multiply(x, x));
  EXPECT_EQ(x.grad().item(), 6);
  x.leaf_gradient().clear();
  backward(add(scale(x, 2), scale(x, 5)));
  EXPECT_EQ(x.grad().item(), 7);
}

// Both destinations would be the leaf's view, and the second would overwrite the first.
TEST(LeafGradient, ALeafUsedTwiceByOneNodeHasDestinationsOfItsOwn) {
  const Tensor x = leaf({3});
  x.leaf_gradient().bind(Tensor::zeros({1}));
  backward(record("both", Tensor::scalar(0), {x, x}, [](BackwardContext& context) {
    for (int input = 0; input < 2; ++input) {
      Tensor gradient = context.destination(input);
      gradient.fill(input == 0 ? 2 : 5);
      context.add(input, gradient);
    }
  }));
  EXPECT_EQ(x.grad().item(), 7);
}

TEST(LeafGradient, StridedAndOpaqueContributionsAreWrittenAndAdded) {
  const Tensor x = leaf({1, 2});
  const auto give = [&](const Tensor& gradient) {
    return record("give", Tensor::scalar(0), {x},
                  [gradient](BackwardContext& context) { context.add(0, gradient); });
  };
  const Tensor strided = Tensor::scalar(4).expand({2});
  backward(give(reversed({1, 2}, {2})));
  backward(give(strided));
  EXPECT_EQ(x.grad().to_vector<float>(), (Floats{5, 6}));
  x.leaf_gradient().clear();
  backward(give(strided));
  backward(give(reversed({1, 2}, {2})));
  EXPECT_EQ(x.grad().to_vector<float>(), (Floats{5, 6}));
}

TEST(LeafGradient, TheGraphKeepsTheLeafAliveWithoutItsHandle) {
  std::shared_ptr<LeafGradient> gradient;
  Tensor root;
  {
    const Tensor x = leaf({3});
    gradient = x.shared_leaf_gradient();
    root = scale(x, 2);
  }
  backward(root);
  EXPECT_EQ(gradient->view().item(), 2);
}

TEST(LeafHook, RunsOnceAfterTheLastContribution) {
  const Tensor x = leaf({3});
  Floats seen;
  x.leaf_gradient().on_ready([&] { seen.push_back(static_cast<float>(x.grad().item())); });
  backward(add(multiply(x, x), scale(x, 5)));
  EXPECT_EQ(seen, (Floats{11}));
  backward(scale(x, 2));
  EXPECT_EQ(seen, (Floats{11, 13})) << "once per backward";
}

TEST(LeafHook, RunsAsSoonAsTheLeafIsCompleteNotAtTheEnd) {
  const Tensor first = leaf({1});
  const Tensor last = leaf({1});
  int nodes = 0;
  int ready_after = -1;
  last.leaf_gradient().on_ready([&] { ready_after = nodes; });
  const Tensor root = multiply(scale(scale(first, 2), 3), last);
  backward(root, {.seed = {}, .between_nodes = [&] { ++nodes; }});
  EXPECT_EQ(ready_after, 0) << "before the two older nodes run";
  EXPECT_EQ(nodes, 3);
}

TEST(LeafHook, DoesNotRunForALeafThatTheRootDoesNotUse) {
  const Tensor x = leaf({1});
  const Tensor unused = leaf({1});
  int calls = 0;
  unused.leaf_gradient().on_ready([&] { ++calls; });
  const Tensor branch = multiply(x, unused);
  backward(scale(x, 2));
  EXPECT_EQ(calls, 0);
}

TEST(LeafHook, RunsForALeafWhoseContributionNeverCame) {
  const Tensor x = leaf({1});
  int calls = 0;
  x.leaf_gradient().on_ready([&] { ++calls; });
  backward(record("gives nothing", Tensor::scalar(0), {x}, [](BackwardContext&) {}));
  EXPECT_EQ(calls, 1) << "a bucket that counts leaves must not wait for it";
  EXPECT_FALSE(x.grad().defined());
}

}  // namespace
}  // namespace lockstep
