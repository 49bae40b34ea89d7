#include "runtime/autograd.h"

#include <gtest/gtest.h>

#include <string>

#include "runtime/error.h"
#include "tests/runtime/reversed_layout.h"
#include "tests/runtime/tiny_ops.h"

namespace lockstep {
namespace {

using Floats = std::vector<float>;

Floats gradient_of(const Tensor& leaf) {
  return leaf.grad().to_vector<float>();
}

std::string error_of_backward(const Tensor& root) {
  try {
    backward(root);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Backward, FollowsTheChainRule) {
  const Tensor x = leaf({3});
  const Tensor y = leaf({5});
  backward(add(multiply(x, y), scale(x, 2)));
  EXPECT_EQ(gradient_of(x), (Floats{7}));
  EXPECT_EQ(gradient_of(y), (Floats{3}));
}

TEST(Backward, DiamondRunsEachNodeOnceWithItsWholeGradient) {
  const Tensor x = leaf({3});
  const Tensor top = scale(x, 2);
  const Tensor left = scale(top, 5);
  const Tensor right = multiply(top, top);
  int nodes = 0;
  backward(add(left, right), {.seed = {}, .between_nodes = [&] { ++nodes; }});
  EXPECT_EQ(gradient_of(x), (Floats{2 * (5 + 2 * 6)}));
  EXPECT_EQ(nodes, 4) << "add, multiply, scale, scale";
}

TEST(Backward, WithoutASeedTheRootHasOneElement) {
  const Tensor x = leaf({1, 2});
  const Tensor y = scale(x, 3);
  EXPECT_THROW(backward(y), InvalidArgument);
  backward(y, {.seed = Tensor::from<float>({1, 10}, {2}), .between_nodes = {}});
  EXPECT_EQ(gradient_of(x), (Floats{3, 30}));
}

TEST(Backward, SeedMustHaveTheRootsShape) {
  const Tensor x = leaf({1, 2});
  const BackwardOptions options{.seed = Tensor::zeros({3}), .between_nodes = {}};
  EXPECT_THROW(backward(scale(x, 3), options), InvalidArgument);
}

TEST(Backward, RootThatNeedsNoGradientIsAnError) {
  EXPECT_THROW(backward(Tensor::scalar(1)), InvalidArgument);
  EXPECT_THROW(backward(scale(Tensor::scalar(1), 2)), InvalidArgument);
}

TEST(Backward, RootMayBeALeaf) {
  const Tensor x = leaf({4});
  backward(x);
  EXPECT_EQ(gradient_of(x), (Floats{1}));
}

TEST(Backward, SecondPassThroughAFreedGraphNamesTheOperation) {
  const Tensor x = leaf({3});
  const Tensor y = scale(x, 2);
  backward(y);
  EXPECT_NE(error_of_backward(y).find("scale"), std::string::npos) << error_of_backward(y);
  EXPECT_NE(error_of_backward(multiply(y, x)).find("scale"), std::string::npos) << "reached from a new node";
}

TEST(Backward, SavedTensorsAreReleasedAsSoonAsTheyWereUsed) {
  const Tensor x = leaf({3});
  std::weak_ptr<Storage> saved;
  Tensor root;
  {
    const Tensor constant = Tensor::from<float>({5}, {1});
    saved = constant.storage();
    root = scale(multiply(x, constant), 2);
  }
  EXPECT_FALSE(saved.expired());
  int nodes = 0;
  backward(root, {.seed = {}, .between_nodes = [&] { EXPECT_EQ(saved.expired(), ++nodes == 2); }});
  EXPECT_EQ(nodes, 2);
}

TEST(Backward, ChangingASavedTensorInPlaceIsNoticed) {
  const Tensor x = leaf({3});
  Tensor constant = Tensor::from<float>({5}, {1});
  const Tensor y = multiply(x, constant);
  constant.fill(6);
  const std::string text = error_of_backward(y);
  EXPECT_EQ(text.find("[multiply]"), 0U) << text;
  EXPECT_NE(text.find("in place"), std::string::npos) << text;
  EXPECT_NE(text.find("clone()"), std::string::npos) << text;
}

TEST(Backward, ChangingAViewOfASavedTensorIsNoticedToo) {
  const Tensor x = leaf({3, 4});
  const Tensor y = multiply(x, x);
  x.narrow(0, 0, 1).fill(6);
  const BackwardOptions options{.seed = Tensor::full({2}, 1), .between_nodes = {}};
  EXPECT_THROW(backward(y, options), InvalidArgument);
}

TEST(Backward, AResultSavedByItsOwnOperationIsNoCycle) {
  const Tensor x = leaf({3});
  std::weak_ptr<Node> node;
  {
    const Tensor result = multiplied(x, x);
    const Tensor recorded = record("self", result, {x}, [saved = SavedTensor(result, "self")](auto& context) {
      context.add(0, saved.get());
    });
    node = recorded.node();
    EXPECT_FALSE(node.expired());
  }
  EXPECT_TRUE(node.expired());
}

TEST(Backward, ABranchThatTheRootDoesNotUseIsIgnored) {
  const Tensor x = leaf({3});
  const Tensor unused_leaf = leaf({4});
  const Tensor unused = multiply(x, unused_leaf);
  backward(scale(x, 2));
  EXPECT_EQ(gradient_of(x), (Floats{2}));
  EXPECT_FALSE(unused_leaf.grad().defined());
  backward(unused);
  EXPECT_EQ(gradient_of(unused_leaf), (Floats{3})) << "its part of the graph is untouched";
}

TEST(Backward, ANodeWithoutAGradientIsPassedOver) {
  const Tensor x = leaf({3});
  const Tensor y = leaf({4});
  const Tensor first = scale(x, 2);
  const Tensor root = record("drops its first input", first.detach(), {first, y},
                             [](BackwardContext& context) { context.add(1, context.grad()); });
  backward(root);
  EXPECT_FALSE(x.grad().defined());
  EXPECT_EQ(gradient_of(y), (Floats{1}));
}

TEST(Backward, WrongGradientsAreOurBugAndNamed) {
  const Tensor x = leaf({3});
  const Tensor wrong = record("wrong", Tensor::scalar(1), {x},
                              [](BackwardContext& context) { context.add(0, Tensor::zeros({2})); });
  try {
    backward(wrong);
    FAIL() << "no exception";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find("[wrong] internal error"), 0U) << error.what();
  }
}

// The order of additions is part of the numbers: newest consumer first, whatever the allocator or the hash
// does.
TEST(Backward, OrderOfAdditionsIsNewestConsumerFirst) {
  const Tensor x = leaf({1});
  const Tensor shared = scale(x, 1);
  const Tensor oldest = scale(shared, 1);
  const Tensor middle = scale(shared, 1e8F);
  const Tensor newest = scale(shared, -1e8F);
  backward(add(newest, add(oldest, middle)));
  EXPECT_EQ(gradient_of(x), (Floats{1})) << "(-1e8 + 1e8) + 1; starting with the 1 loses it";
}

TEST(Backward, SharedGradientsAreNotOverwritten) {
  // add() hands one gradient tensor to both inputs; summing into it for one must not change the other.
  const Tensor x = leaf({1});
  const Tensor y = leaf({1});
  const Tensor a = scale(x, 1);
  const Tensor b = scale(y, 1);
  backward(add(add(a, b), a));
  EXPECT_EQ(gradient_of(x), (Floats{2}));
  EXPECT_EQ(gradient_of(y), (Floats{1}));
}

/// An operation whose gradient of `x` is (1, 0, ..).
Tensor sparse(const Tensor& x) {
  return record("sparse", Tensor::scalar(0), {x}, [](BackwardContext& context) {
    context.accumulate(0, [](const Tensor& sum) { sum.data<float>()[0] += 1; });
  });
}

TEST(Backward, AccumulatesInTheLeafsOwnView) {
  Tensor x = leaf({0, 0});
  const Tensor view = Tensor::full({2}, 7);
  x.leaf_gradient().bind(view);
  const Tensor older = sparse(x);
  backward(add(sparse(x), older));
  EXPECT_EQ(view.to_vector<float>(), (Floats{2, 0})) << "what was there before bind() does not count";
  backward(sparse(x));
  EXPECT_EQ(view.to_vector<float>(), (Floats{3, 0}));
  const Tensor product = multiply(scale(x, 1), Tensor::from<float>({10, 20}, {2}));
  backward(product, {.seed = Tensor::full({2}, 1), .between_nodes = {}});
  EXPECT_EQ(view.to_vector<float>(), (Floats{13, 20}));
}

TEST(Backward, AccumulatesWhereThereIsNoViewToShare) {
  const Tensor x = leaf({0, 0});
  backward(add(sparse(x), sparse(scale(x, 3))));
  EXPECT_EQ(gradient_of(x), (Floats{4, 0})) << "a leaf without a view, and the result of an operation";
}

TEST(Backward, GradientsInAnOpaqueLayoutAreAdded) {
  const Tensor x = leaf({0, 0});
  const Tensor shared = scale(x, 1);
  const auto give = [&](const Tensor& gradient) {
    return record("give", Tensor::scalar(0), {shared},
                  [gradient](BackwardContext& context) { context.add(0, gradient); });
  };
  const Tensor opaque = give(reversed({1, 2}, {2}));
  const Tensor same_layout = give(reversed({10, 20}, {2}));
  const Tensor strided = give(Tensor::scalar(100).expand({2}));
  backward(add(strided, add(same_layout, opaque)));
  EXPECT_EQ(gradient_of(x), (Floats{111, 122}));
}

TEST(Backward, MillionNodesRunAndAreFreedWithoutRecursion) {
  constexpr int kNodes = 1000000;
  const Tensor x = leaf({1});
  const auto chain = [&] {
    Tensor end = x;
    for (int i = 0; i < kNodes; ++i) {
      end =
          record("pass", x.detach(), {end}, [](BackwardContext& context) { context.add(0, context.grad()); });
    }
    return end;
  };
  std::weak_ptr<Node> unused = chain().node();
  EXPECT_TRUE(unused.expired()) << "freed without having run";

  int nodes = 0;
  backward(chain(), {.seed = {}, .between_nodes = [&] { ++nodes; }});
  EXPECT_EQ(nodes, kNodes);
  EXPECT_EQ(gradient_of(x), (Floats{1}));
}

TEST(NoGradient, NothingIsRecordedInsideAndAgainAfterwards) {
  const Tensor x = leaf({3});
  {
    const NoGrad outer;
    { const NoGrad inner; }
    EXPECT_FALSE(needs_gradient({x}));
    EXPECT_FALSE(scale(x, 2).requires_grad());
  }
  EXPECT_TRUE(needs_gradient({x}));
  EXPECT_TRUE(scale(x, 2).requires_grad());
}

TEST(NoGradient, BackwardFunctionsDoNotRecord) {
  const Tensor x = leaf({3});
  bool recorded = true;
  const Tensor root = record("probe", Tensor::scalar(1), {x}, [&, x](BackwardContext& context) {
    const Tensor gradient = scale(x, 2);
    recorded = gradient.requires_grad();
    context.add(0, gradient);
  });
  backward(root);
  EXPECT_FALSE(recorded);
}

TEST(Record, ConstantsAndUndefinedInputsNeedNoGradient) {
  const Tensor x = leaf({3});
  const Tensor constant = Tensor::scalar(2);
  EXPECT_FALSE(needs_gradient({constant, Tensor()}));
  EXPECT_FALSE(record("none", constant, {constant, Tensor()}, {}).requires_grad());
  std::vector<bool> needs;
  backward(record("some", Tensor::scalar(1), {constant, x, Tensor()}, [&](BackwardContext& context) {
    needs = {context.needs(0), context.needs(1), context.needs(2)};
  }));
  EXPECT_EQ(needs, (std::vector<bool>{false, true, false}));
}

TEST(Plain, IsDifferentiable) {
  const Tensor x = leaf({1, 2});
  const Tensor blocked = record("to blocked", reversed({1, 2}, {2}), {x}, [](BackwardContext& context) {
    context.add(0, multiplied(context.grad(), Tensor::from<float>({3, 5}, {2})));
  });
  const Tensor y = plain(blocked);
  EXPECT_EQ(y.to_vector<float>(), (Floats{1, 2}));
  EXPECT_TRUE(plain(x).same_memory(x)) << "plain memory is returned as it is";
  backward(y, {.seed = Tensor::full({2}, 1), .between_nodes = {}});
  EXPECT_EQ(gradient_of(x), (Floats{3, 5}));
}

Tensor converted(const Tensor& x, DType dtype) {
  Tensor result = Tensor::empty(x.shape(), dtype);
  for (int64_t i = 0; i < x.count(); ++i) {
    if (dtype == DType::kBF16) {
      result.data<BFloat16>()[i] = BFloat16(x.data<float>()[i]);
    } else {
      result.data<float>()[i] = static_cast<float>(x.data<BFloat16>()[i]);
    }
  }
  return result;
}

Tensor to_bf16(const Tensor& x) {
  return record("to_bf16", converted(x, DType::kBF16), {x},
                [](BackwardContext& context) { context.add(0, converted(context.grad(), DType::kF32)); });
}

TEST(Backward, GradientsHaveTheTypeOfTheirInput) {
  const Tensor x = leaf({1, 2});
  const Tensor narrow = to_bf16(x);
  const auto doubled = [](const Tensor& a) {
    Tensor sum = a.clone();
    sum.add_in_place(a);
    return record("doubled", sum, {a}, [](BackwardContext& context) {
      EXPECT_EQ(context.dtype(0), DType::kBF16);
      EXPECT_EQ(context.shape(0), Shape{2});
      Tensor gradient = context.destination(0);
      EXPECT_EQ(gradient.dtype(), DType::kBF16);
      gradient.copy_from(context.grad());
      gradient.add_in_place(context.grad());
      context.add(0, gradient);
    });
  };
  const BackwardOptions options{.seed = Tensor::full({2}, 0.5, DType::kBF16), .between_nodes = {}};
  backward(add(doubled(narrow), narrow), options);
  EXPECT_EQ(gradient_of(x), (Floats{1.5, 1.5})) << "two bf16 gradients of one node are added up";
}

TEST(Backward, AGradientOfAnotherTypeIsRefused) {
  const Tensor y = record("wrong", converted(leaf({1}), DType::kBF16), {leaf({1})},
                          [](BackwardContext& context) { context.add(0, context.grad()); });
  EXPECT_THROW(backward(y), Error);
  EXPECT_THROW(backward(to_bf16(leaf({1})), {.seed = Tensor::full({1}, 1), .between_nodes = {}}),
               InvalidArgument)
      << "an f32 seed for a bf16 root";
}

}  // namespace
}  // namespace lockstep
