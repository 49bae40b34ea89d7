#include "data/loader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <latch>
#include <memory>
#include <utility>

#include "data/formats/synthetic.h"
#include "runtime/error.h"
#include "tests/data/error_of.h"

namespace lockstep::data {
namespace {

using std::chrono::milliseconds;

/// 1 x 1 x 1 images of value `index`, label index mod 10; `on_read` runs first.
class CallbackSource final : public DataSource {
 public:
  CallbackSource(int64_t size, std::function<void(int64_t index)> on_read)
      : size_(size), spec_{"callback", {1, 1, 1}, DType::kF32, 10}, on_read_(std::move(on_read)) {}

  int64_t size() const override { return size_; }
  const SampleSpec& spec() const override { return spec_; }
  void read(const SampleRequest& request) const override {
    ++started_;
    on_read_(request.index);
    *reinterpret_cast<float*>(request.input) = static_cast<float>(request.index);
    request.set_label(request.index % 10);
  }
  int64_t started() const { return started_; }
  void wait_until_started(int64_t count) const {
    while (started_ < count) std::this_thread::yield();
  }

 private:
  int64_t size_;
  SampleSpec spec_;
  std::function<void(int64_t index)> on_read_;
  mutable std::atomic<int64_t> started_{0};
};

void read_at_once(int64_t /*index*/) {}

Sampler in_order(int64_t size) {
  return Sampler({.size = size, .shuffle = false});
}

std::vector<BatchRequest> epochs_in_batches(int64_t epochs, int64_t size, int64_t count) {
  std::vector<BatchRequest> requests;
  for (int64_t epoch = 0; epoch < epochs; ++epoch) {
    for (int64_t first = 0; first < size; first += count) {
      requests.push_back({epoch, first, std::min(count, size - first)});
    }
  }
  return requests;
}

/// What a model would see: pixels, labels and sample numbers of all batches, one after another.
struct Seen {
  std::vector<float> pixels;
  std::vector<int64_t> targets;
  std::vector<int64_t> samples;
  bool operator==(const Seen&) const = default;

  void add(const Batch& batch) {
    const auto append = [](auto& all, const auto& part) { all.insert(all.end(), part.begin(), part.end()); };
    append(pixels, batch.inputs.to_vector<float>());
    append(targets, batch.targets.to_vector<int64_t>());
    append(samples, batch.samples);
  }
};

const AugmentOptions kAugment{.seed = 4, .crop_padding = 3, .flip = true, .mean = {0.3}, .std = {0.4}};

/// Loads the requests of a source of `size` made-up images.
Seen load(int64_t size, const std::vector<BatchRequest>& requests, const LoaderOptions& options) {
  const SyntheticSource source({.size = size, .shape = {1, 9, 8}});
  const Sampler sampler({.size = size, .seed = 4});
  Loader loader(source, sampler, kAugment, options);
  loader.submit(requests);
  Seen seen;
  for (const BatchRequest& request : requests) {
    const Batch batch = loader.next();
    EXPECT_EQ(batch.request, request);
    EXPECT_EQ(batch.inputs.shape(), (Shape{request.count, 1, 9, 8}));
    EXPECT_EQ(batch.targets.shape(), (Shape{request.count}));
    seen.add(batch);
  }
  return seen;
}

TEST(Loader, BatchesHoldTheSamplesAskedFor) {
  const CallbackSource source(7, read_at_once);
  const Sampler sampler({.size = 7, .seed = 2});
  Loader loader(source, sampler, {});
  loader.submit({{3, 0, 4}, {3, 4, 3}});
  for (const auto& [first, count] : {std::pair(0, 4), {4, 3}}) {
    const Batch batch = loader.next();
    ASSERT_EQ(batch.samples.size(), static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) {
      const int64_t sample = sampler.sample(3, first + i);
      EXPECT_EQ(batch.samples[i], sample);
      EXPECT_EQ(batch.inputs.data<float>()[i], static_cast<float>(sample));
      EXPECT_EQ(batch.targets.data<int64_t>()[i], sample % 10);
    }
  }
}

TEST(Loader, ASmallerSamplerTakesTheFirstSamples) {
  const CallbackSource source(1000, read_at_once);
  const Sampler sampler({.size = 7, .seed = 2});
  Loader loader(source, sampler, {});
  loader.submit({{0, 0, 7}});
  std::vector<int64_t> samples = loader.next().samples;
  std::sort(samples.begin(), samples.end());
  EXPECT_EQ(samples, (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6}));
}

TEST(Loader, AnyNumberOfThreadsGivesTheSameBits) {
  const auto requests = epochs_in_batches(2, 50, 8);
  const Seen in_line = load(50, requests, {.threads = 0});
  EXPECT_EQ(load(50, requests, {.threads = 1}), in_line);
  EXPECT_EQ(load(50, requests, {.threads = 1, .prefetch = 1}), in_line);
  EXPECT_EQ(load(50, requests, {.threads = 4, .prefetch = 6}), in_line);
}

TEST(Loader, EpochsShowTheSameSamplesDifferently) {
  const Seen first = load(50, {{0, 0, 50}}, {});
  const Seen second = load(50, {{1, 0, 50}}, {});
  EXPECT_NE(first.samples, second.samples);
  std::vector<std::vector<float>> images(50);
  for (size_t i = 0; i < 50; ++i)
    images[first.samples[i]].assign(&first.pixels[i * 72], &first.pixels[i * 72] + 72);
  int equal = 0;
  for (size_t i = 0; i < 50; ++i) {
    const std::vector<float>& before = images[second.samples[i]];
    equal += std::equal(before.begin(), before.end(), &second.pixels[i * 72]) ? 1 : 0;
  }
  EXPECT_LE(equal, 3) << "of 98 crops and flips, the same one twice is rare";
}

TEST(Loader, ThreeResumesWithinAnEpochShowWhatTheUnbrokenRunShows) {
  const Seen unbroken = load(64, epochs_in_batches(2, 64, 8), {});
  Seen resumed = load(64, epochs_in_batches(1, 64, 8), {});
  for (const auto& [first, last] : {std::pair(0, 20), {20, 31}, {31, 47}, {47, 64}}) {
    const Seen part = load(64, {{1, first, last - first}}, {.threads = 2});
    resumed.pixels.insert(resumed.pixels.end(), part.pixels.begin(), part.pixels.end());
    resumed.targets.insert(resumed.targets.end(), part.targets.begin(), part.targets.end());
    resumed.samples.insert(resumed.samples.end(), part.samples.begin(), part.samples.end());
  }
  EXPECT_EQ(resumed, unbroken);
}

TEST(Loader, AMoreThanFullQueueKeepsItsOrder) {
  const CallbackSource source(100, read_at_once);
  const Sampler sampler = in_order(100);
  Loader loader(source, sampler, {}, {.threads = 3, .prefetch = 4});
  for (int64_t first = 0; first < 100; ++first) loader.submit({{0, first, 1}});
  for (int64_t first = 0; first < 100; ++first) ASSERT_EQ(loader.next().samples, std::vector<int64_t>{first});
}

TEST(Loader, ReadsAheadAsFarAsAllowed) {
  const CallbackSource source(40, read_at_once);
  const Sampler sampler = in_order(40);
  Loader loader(source, sampler, {}, {.threads = 1, .prefetch = 2});
  loader.submit(epochs_in_batches(1, 40, 4));
  source.wait_until_started(8);  // two batches, though nobody has called next()
  EXPECT_EQ(source.started(), 8);
  loader.next();
  source.wait_until_started(12);
  EXPECT_EQ(source.started(), 12);
}

TEST(Loader, EveryThreadGetsABatchOfItsOwn) {
  std::latch all_reading(3);
  const CallbackSource source(3, [&](int64_t /*index*/) { all_reading.arrive_and_wait(); });
  const Sampler sampler = in_order(3);
  Loader loader(source, sampler, {}, {.threads = 3, .prefetch = 1});
  loader.submit(epochs_in_batches(1, 3, 1));
  for (int64_t first = 0; first < 3; ++first) EXPECT_EQ(loader.next().samples, std::vector<int64_t>{first});
}

TEST(Loader, WithoutThreadsNothingIsReadAhead) {
  const CallbackSource source(40, read_at_once);
  const Sampler sampler = in_order(40);
  Loader loader(source, sampler, {}, {.threads = 0});
  loader.submit(epochs_in_batches(1, 40, 4));
  EXPECT_EQ(source.started(), 0);
  loader.next();
  EXPECT_EQ(source.started(), 4);
}

class LoaderThreads : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Loader, LoaderThreads, testing::Values(0, 1, 4));

TEST_P(LoaderThreads, TheSourcesErrorReachesTheCallerOfItsBatchOnly) {
  const CallbackSource source(
      40, [](int64_t index) { check<DataError>(index != 9, "callback", "sample ", index, " is damaged"); });
  const Sampler sampler = in_order(40);
  Loader loader(source, sampler, {}, {.threads = GetParam()});
  loader.submit(epochs_in_batches(1, 40, 4));
  EXPECT_EQ(loader.next().samples[0], 0);
  EXPECT_EQ(loader.next().samples[0], 4);
  EXPECT_EQ(error_of<DataError>([&] { loader.next(); }), "[callback] sample 9 is damaged");
  EXPECT_EQ(loader.next().samples[0], 12);
}

TEST_P(LoaderThreads, WaitTimeIsThatOfASlowSource) {
  const CallbackSource source(40, [](int64_t /*index*/) { std::this_thread::sleep_for(milliseconds(5)); });
  const Sampler sampler = in_order(40);
  Loader loader(source, sampler, {}, {.threads = GetParam()});
  EXPECT_EQ(loader.wait_time().count(), 0);
  const auto start = std::chrono::steady_clock::now();
  loader.submit({{0, 0, 4}});
  loader.next();
  EXPECT_GT(loader.wait_time(), milliseconds(15));
  EXPECT_LE(loader.wait_time(), std::chrono::steady_clock::now() - start);
}

TEST_P(LoaderThreads, RefusesLabelsOutOfRange) {
  class WrongLabels final : public DataSource {
   public:
    explicit WrongLabels(int64_t label) : label_(label) {}
    int64_t size() const override { return 3; }
    const SampleSpec& spec() const override { return spec_; }
    void read(const SampleRequest& request) const override {
      *request.input = std::byte{};
      request.set_label(request.index == 1 ? label_ : 0);
    }

   private:
    int64_t label_;
    SampleSpec spec_{"wrong", {1, 1, 1}, DType::kU8, 10};
  };
  for (const int64_t label : {-1, 10}) {
    const WrongLabels source(label);
    const Sampler sampler = in_order(3);
    Loader loader(source, sampler, {}, {.threads = GetParam()});
    loader.submit({{0, 0, 3}});
    EXPECT_EQ(error_of<DataError>([&] { loader.next(); }),
              to_text("[data] wrong: label of sample 1: expected 0 to 9, got ", label));
  }
}

TEST_P(LoaderThreads, RefusesRequestsThatNoEpochHolds) {
  const CallbackSource source(7, read_at_once);
  const Sampler sampler = in_order(7);
  Loader loader(source, sampler, {}, {.threads = GetParam()});
  for (const BatchRequest& request : {BatchRequest{0, 4, 4}, {0, 7, 1}, {0, 0, 0}, {0, -1, 2}, {-1, 0, 1}}) {
    expect_contains(error_of<InvalidArgument>([&] {
                      loader.submit({{0, 0, 1}, request});
                    }),
                    "an epoch has 7 samples");
  }
  expect_contains(error_of<InvalidArgument>([&] { loader.next(); }), "no batch is queued");
}

class LoaderBadSamples : public LoaderThreads {};
INSTANTIATE_TEST_SUITE_P(Loader, LoaderBadSamples, testing::Values(0, 4));

void odd_ones_are_bad(int64_t index) {
  if (index % 2 == 1) throw BadSample(to_text("[callback] picture ", index, " is damaged"));
}

TEST_P(LoaderBadSamples, AreReplacedByTheNextGoodOne) {
  const CallbackSource source(7, [](int64_t index) {
    if (index == 2 || index == 3 || index == 6) throw BadSample(to_text("[callback] bad ", index));
  });
  const Sampler sampler = in_order(7);
  Loader loader(source, sampler, {}, {.threads = GetParam(), .bad_samples = BadSamples::kReplace});
  loader.submit({{0, 0, 4}, {0, 4, 3}});
  const Batch first = loader.next();
  EXPECT_EQ(first.inputs.to_vector<float>(), (std::vector<float>{0, 1, 4, 4}));
  EXPECT_EQ(first.targets.to_vector<int64_t>(), (std::vector<int64_t>{0, 1, 4, 4}));
  EXPECT_EQ(first.bad_samples, 2);
  const Batch second = loader.next();
  EXPECT_EQ(second.inputs.to_vector<float>(), (std::vector<float>{4, 5, 0}))
      << "after the last comes the first";
  EXPECT_EQ(second.bad_samples, 1);
}

TEST_P(LoaderBadSamples, AreLeftOut) {
  const CallbackSource source(4, odd_ones_are_bad);
  const Sampler sampler = in_order(4);
  Loader loader(source, sampler, {}, {.threads = GetParam(), .bad_samples = BadSamples::kLeaveOut});
  loader.submit({{0, 0, 4}});
  const Batch batch = loader.next();
  EXPECT_EQ(batch.inputs.to_vector<float>(), (std::vector<float>{0, 0, 2, 0}));
  EXPECT_EQ(batch.targets.to_vector<int64_t>(), (std::vector<int64_t>{0, kIgnoredTarget, 2, kIgnoredTarget}));
  EXPECT_EQ(batch.bad_samples, 2);
}

TEST_P(LoaderBadSamples, EndTheRunByDefault) {
  const CallbackSource source(4, odd_ones_are_bad);
  const Sampler sampler = in_order(4);
  Loader loader(source, sampler, {}, {.threads = GetParam()});
  loader.submit({{0, 0, 4}});
  EXPECT_EQ(error_of<BadSample>([&] { loader.next(); }), "[callback] picture 1 is damaged");
}

TEST_P(LoaderBadSamples, NothingButBadOnesEndsTheRun) {
  const CallbackSource source(300, [](int64_t index) { throw BadSample(to_text("[callback] bad ", index)); });
  const Sampler sampler = in_order(300);
  Loader loader(source, sampler, {}, {.threads = GetParam(), .bad_samples = BadSamples::kReplace});
  loader.submit({{0, 5, 1}});
  EXPECT_EQ(error_of<DataError>([&] { loader.next(); }),
            "[Loader] callback: sample 5 and the 100 after it cannot be read");
}

/// Sequences: `length` tokens, and the same moved by one as targets.
class CountingTokens final : public DataSource {
 public:
  int64_t size() const override { return 3; }
  const SampleSpec& spec() const override { return spec_; }
  void read(const SampleRequest& request) const override {
    for (int64_t i = 0; i < 4; ++i) {
      reinterpret_cast<int64_t*>(request.input)[i] = 10 * request.index + i;
      reinterpret_cast<int64_t*>(request.target)[i] = 10 * request.index + i + 1;
    }
  }

 private:
  SampleSpec spec_{.name = "tokens", .shape = {4}, .dtype = DType::kI64, .classes = 24, .target_shape = {4}};
};

TEST_P(LoaderThreads, WhatIsNoImageArrivesAsItIs) {
  const CountingTokens source;
  const Sampler sampler = in_order(3);
  Loader loader(source, sampler, {}, {.threads = GetParam()});
  loader.submit({{0, 0, 2}, {0, 2, 1}});
  const Batch batch = loader.next();
  EXPECT_EQ(batch.inputs.shape(), (Shape{2, 4}));
  EXPECT_EQ(batch.inputs.to_vector<int64_t>(), (std::vector<int64_t>{0, 1, 2, 3, 10, 11, 12, 13}));
  EXPECT_EQ(batch.targets.to_vector<int64_t>(), (std::vector<int64_t>{1, 2, 3, 4, 11, 12, 13, 14}));
  EXPECT_EQ(error_of<DataError>([&] { loader.next(); }),
            "[data] tokens: label of sample 2: expected 0 to 23, got 24");
}

/// Lets reads of one sample pass only after open().
class Gate {
 public:
  void pass() { opened_.wait(false); }
  void open() {
    opened_ = true;
    opened_.notify_all();
  }

 private:
  std::atomic<bool> opened_{false};
};

TEST(Loader, ASourceThatHangsIsNamedAtTheDeadline) {
  Gate gate;
  const CallbackSource source(40, [&](int64_t index) {
    if (index == 6) gate.pass();
  });
  const Sampler sampler = in_order(40);
  Loader loader(source, sampler, {}, {.threads = 1, .timeout = milliseconds(50)});
  loader.submit({{2, 5, 3}});
  source.wait_until_started(2);
  EXPECT_EQ(
      error_of<DataError>([&] { loader.next(); }),
      "[Loader] callback: no batch within 0.05 s: 1 of 3 samples are ready, waiting for sample 6 of epoch 2");
  gate.open();
  EXPECT_EQ(loader.next().samples, (std::vector<int64_t>{5, 6, 7})) << "the batch was late, not lost";
}

TEST(Loader, EndsWithinABatch) {
  const CallbackSource source(1000, [](int64_t /*index*/) { std::this_thread::sleep_for(milliseconds(1)); });
  const Sampler sampler = in_order(1000);
  {
    Loader loader(source, sampler, {}, {.threads = 2, .prefetch = 8});
    loader.submit(epochs_in_batches(50, 1000, 1000));
    source.wait_until_started(2);
  }
  EXPECT_LT(source.started(), 1000) << "neither thread has finished its batch";
}

TEST(Loader, EndsWithErrorsAndBatchesNobodyFetched) {
  const CallbackSource source(40, [](int64_t index) { check<DataError>(index % 2 == 0, "callback", "odd"); });
  const Sampler sampler = in_order(40);
  Loader loader(source, sampler, {}, {.threads = 2, .prefetch = 4});
  loader.submit(epochs_in_batches(1, 40, 1));
  source.wait_until_started(4);
  loader.next();
}

TEST(Loader, RefusesWhatDoesNotFit) {
  const CallbackSource source(7, read_at_once);
  const Sampler sampler = in_order(7);
  const Sampler larger = in_order(8);
  const auto refused = [&](const Sampler& order, const AugmentOptions& augment,
                           const LoaderOptions& options) {
    return error_of<InvalidArgument>([&] { Loader(source, order, augment, options); });
  };
  expect_contains(refused(larger, {}, {}), "the sampler is for 8 samples, but callback holds 7");
  expect_contains(refused(sampler, {}, {.threads = -1}), "threads: expected 0 or more, got -1");
  expect_contains(refused(sampler, {}, {.prefetch = 0}), "prefetch: expected 1 or more, got 0");
  expect_contains(refused(sampler, {}, {.timeout = milliseconds(0)}), "timeout");
  expect_contains(refused(sampler, {.mean = {1, 2}}, {}), "mean");
}

}  // namespace
}  // namespace lockstep::data
