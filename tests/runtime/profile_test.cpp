#include "runtime/profile.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/runtime/tiny_ops.h"

namespace lockstep::profile {
namespace {

/// The events of a recorder with one lane, by start.
std::vector<Event> only_lane(const Recorder& recorder) {
  EXPECT_EQ(recorder.lanes().size(), 1U);
  return recorder.lanes().at(0)->events();
}

std::vector<std::string> names_of(const std::vector<Event>& events) {
  std::vector<std::string> names;
  for (const Event& event : events) names.push_back(event.name);
  return names;
}

using Names = std::vector<std::string>;

TEST(Profile, KeepsSpansOfAThreadInNestingOrder) {
  Recorder recorder;
  recorder.start();
  {
    const Scope scope(&recorder, "compute");
    const Span step(Category::kStep, "step 1");
    { const Span first(Category::kPhase, "forward"); }
    { const Span second(Category::kPhase, "backward"); }
  }
  const std::vector<Event> events = only_lane(recorder);
  EXPECT_EQ(names_of(events), (Names{"step 1", "forward", "backward"}));
  EXPECT_EQ(recorder.lanes()[0]->name(), "compute");
  EXPECT_LE(events[0].start, events[1].start);
  EXPECT_LE(events[1].end, events[2].start);
  EXPECT_LE(events[2].end, events[0].end);
}

TEST(Profile, RecordsNothingWithoutScopeOrWhileStopped) {
  Recorder recorder;
  recorder.start();
  { const Span span(Category::kOther, "outside any scope"); }
  recorder.stop();
  const Scope scope(&recorder, "compute");
  {
    const Span span(Category::kOther, "stopped");
    EXPECT_FALSE(recording());
    touch(&recorder, 8);  // no span: dropped
    EXPECT_EQ(origin(), nullptr);
    recorder.start();
  }
  EXPECT_EQ(names_of(only_lane(recorder)), Names{});
  Event event;
  event.name = "bucket 0";
  add_event("communication", event);
  EXPECT_EQ(recorder.lanes().size(), 2U);
}

TEST(Profile, AScopeEndsAndLeavesTheOneBefore) {
  Recorder outer;
  Recorder inner;
  outer.start();
  inner.start();
  const Scope scope(&outer, "compute");
  {
    const Scope other(&inner, "compute");
    const Span span(Category::kOther, "inside");
  }
  { const Span span(Category::kOther, "behind"); }
  const Scope none(nullptr, "compute");
  { const Span span(Category::kOther, "still the outer one"); }
  EXPECT_EQ(names_of(only_lane(inner)), (Names{"inside"}));
  EXPECT_EQ(names_of(only_lane(outer)), (Names{"behind", "still the outer one"}));
}

TEST(Profile, EveryThreadHasItsOwnLane) {
  Recorder recorder;
  recorder.start();
  const auto work = [&](const std::string& lane) {
    const Scope scope(&recorder, lane);
    for (int i = 0; i < 100; ++i) const Span span(Category::kData, "samples");
  };
  std::thread first(work, "loader 0");
  std::thread second(work, "loader 1");
  first.join();
  second.join();
  ASSERT_EQ(recorder.lanes().size(), 2U);
  for (const Lane* lane : recorder.lanes()) EXPECT_EQ(lane->events().size(), 100U);
}

TEST(Profile, OperationsKnowTheirLayerAndAddUpTheirParts) {
  Recorder recorder;
  recorder.start();
  const Scope scope(&recorder, "compute");
  {
    const Span layer_span = layer("block.0.conv.weight");
    Span outer("outer");
    outer.set_operations(10, {});
    Span inner("inner");
    inner.set_operations(5, {});
    touch(&recorder, 64);
  }
  const std::vector<Event> events = only_lane(recorder);
  ASSERT_EQ(names_of(events), (Names{"block.0.conv", "outer", "inner"}));
  for (const Event& event : events) EXPECT_EQ(event.layer, "block.0.conv");
  EXPECT_FALSE(events[1].nested);
  EXPECT_EQ(events[1].work.operations, 15);
  EXPECT_EQ(events[1].work.bytes, 0);  // a part's memory may be temporary
  EXPECT_TRUE(events[2].nested);
  EXPECT_EQ(events[2].work.bytes, 64);
}

TEST(Profile, CountsTheSameMemoryOnce) {
  Recorder recorder;
  recorder.start();
  const Scope scope(&recorder, "compute");
  {
    const Span span("add");
    touch(&recorder, 64);
    touch(&recorder, 64);
    add_work({.operations = 3, .bytes = 1});
  }
  EXPECT_EQ(only_lane(recorder)[0].work.bytes, 65);
  EXPECT_EQ(only_lane(recorder)[0].work.operations, 3);
}

TEST(Profile, ARecordedOperationCountsItsOperandsAndItsGradients) {
  Recorder recorder;
  recorder.start();
  const Scope scope(&recorder, "compute");
  const Tensor a = leaf({1, 2});
  const Tensor b = leaf({3, 4});
  {
    Tensor product;
    {
      const Span layer_span = layer("fc.weight");
      Span span("multiply");
      span.set_operations(100, {30, 7});
      product = multiply(a, b);
    }
    backward(product, {.seed = Tensor::full({2}, 1), .between_nodes = {}});
  }
  const std::vector<Event> events = only_lane(recorder);
  ASSERT_EQ(names_of(events), (Names{"fc", "multiply", "multiply"}));
  EXPECT_EQ(events[1].category, Category::kForward);
  EXPECT_EQ(events[1].work.operations, 100);
  EXPECT_EQ(events[1].work.bytes, 3 * 8);  // two operands, one result
  EXPECT_EQ(events[2].category, Category::kBackward);
  EXPECT_EQ(events[2].layer, "fc");
  EXPECT_EQ(events[2].work.operations, 37);
  EXPECT_EQ(events[2].work.bytes, 5 * 8);  // both operands, what came, two gradients
}

TEST(Profile, AGradientThatOnlyPassesThroughMovesNothing) {
  Recorder recorder;
  const Scope scope(&recorder, "compute");
  const Tensor a = leaf({1, 2});
  const Tensor sum = lockstep::add(a, a);  // recorded in the graph before the profile begins
  recorder.start();
  backward(sum, {.seed = Tensor::full({2}, 1), .between_nodes = {}});
  const std::vector<Event> events = only_lane(recorder);
  ASSERT_EQ(names_of(events), (Names{"add", "sum of gradients"}));
  EXPECT_EQ(events[0].work.bytes, 0);
  EXPECT_EQ(events[0].layer, "");
  EXPECT_EQ(events[1].work.bytes, 3 * 8);
  EXPECT_EQ(a.grad().to_vector<float>(), (std::vector<float>{2, 2}));
}

TEST(Profile, EveryCategoryHasAName) {
  EXPECT_STREQ(name_of(Category::kForward), "forward");
  EXPECT_STREQ(name_of(Category::kBackward), "backward");
  EXPECT_STREQ(name_of(Category::kStep), "step");
  EXPECT_STREQ(name_of(Category::kPhase), "phase");
  EXPECT_STREQ(name_of(Category::kLayer), "layer");
  EXPECT_STREQ(name_of(Category::kData), "data");
  EXPECT_STREQ(name_of(Category::kCommunication), "communication");
  EXPECT_STREQ(name_of(Category::kOther), "other");
}

}  // namespace
}  // namespace lockstep::profile
