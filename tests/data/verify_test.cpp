#include "data/verify.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "data/framing.h"
#include "runtime/error.h"
#include "tests/data/error_of.h"

namespace lockstep::data {
namespace {

/// Every seventh sample is bad, and sample 30 has a label that is no class.
class Sevenths final : public DataSource {
 public:
  int64_t size() const override { return 100; }
  const SampleSpec& spec() const override { return spec_; }
  void read(const SampleRequest& request) const override {
    ++reads_;
    std::this_thread::sleep_for(pause);
    if (request.index % 7 == 0) throw BadSample(to_text("bad ", request.index));
    request.set_label(request.index == 30 ? 10 : 1);
  }

  int64_t reads() const { return reads_; }

  std::chrono::nanoseconds pause{0};

 private:
  SampleSpec spec_{"sevenths", {1, 2, 2}, DType::kU8, 10};
  mutable std::atomic<int64_t> reads_{0};
};

TEST(Verify, NamesEveryFaultOnceWhateverTheThreads) {
  for (const int threads : {1, 4}) {
    const Sevenths source;
    const Verification result = verify(source, {.threads = threads});
    EXPECT_EQ(source.reads(), 100);
    EXPECT_EQ(result.samples, 100);
    EXPECT_EQ(result.faulty, 16);
    ASSERT_EQ(result.faults.size(), 16U);
    EXPECT_EQ(result.faults[0], (Fault{0, "bad 0"}));
    EXPECT_EQ(result.faults[4], (Fault{28, "bad 28"}));
    EXPECT_EQ(result.faults[5].sample, 30);
    expect_contains(result.faults[5].text, "label of sample 30: expected 0 to 9, got 10");
    EXPECT_EQ(result.faults[15], (Fault{98, "bad 98"}));
  }
}

TEST(Verify, KeepsTheFirstFaultsAndCountsAll) {
  for (const int threads : {1, 3}) {
    const Verification result = verify(Sevenths(), {.threads = threads, .most_faults = 2});
    EXPECT_EQ(result.faulty, 16);
    EXPECT_EQ(result.faults, (std::vector<Fault>{{0, "bad 0"}, {7, "bad 7"}}));
  }
}

TEST(Verify, ReportsProgress) {
  Sevenths source;
  source.pause = std::chrono::milliseconds(1);
  std::vector<int64_t> seen;
  verify(source, {.progress = [&](int64_t checked) { seen.push_back(checked); },
                  .progress_interval = std::chrono::milliseconds(5)});
  ASSERT_FALSE(seen.empty());
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_LE(seen.back(), 100);
}

/// Expects to be asked for whole pictures.
class Pictures final : public DataSource {
 public:
  int64_t size() const override { return 200; }
  const SampleSpec& spec() const override { return spec_; }
  void read(const SampleRequest& request) const override {
    request.set_label(0);
    const int64_t height = 1 + request.index * 37 % 500;
    const int64_t width = 1 + request.index * 53 % 700;
    const Box box = choose_box(request.framing, height, width);
    check<BadSample>(box == Box{0, 0, height, width}, "pictures", "a part of ", height, " x ", width, ": ",
                     box.height, " x ", box.width);
  }

 private:
  SampleSpec spec_{"pictures", {1, 2, 2}, DType::kU8, 10};
};

TEST(Verify, ReadsWholePictures) {
  for (const Fault& fault : verify(Pictures()).faults) ADD_FAILURE() << fault.text;
}

TEST(Verify, RefusesImpossibleOptions) {
  expect_contains(error_of<InvalidArgument>([] { verify(Sevenths(), {.threads = 0}); }), "got 0");
  expect_contains(error_of<InvalidArgument>([] { verify(Sevenths(), {.most_faults = -1}); }), "got -1");
}

}  // namespace
}  // namespace lockstep::data
