#include "ops/cpu/channels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "ops/cpu/onednn.h"

namespace lockstep::ops::cpu {
namespace {

Tensor counting(const Shape& shape) {
  std::vector<float> values(static_cast<size_t>(shape.count()));
  std::iota(values.begin(), values.end(), 0.0F);
  return Tensor::from(values, shape);
}

Tensor in_format(const Tensor& x, dnnl::memory::format_tag tag) {
  const dnnl::memory::desc target({x.dim(0), x.dim(1), x.dim(2), x.dim(3)}, dnnl::memory::data_type::f32,
                                  tag);
  const dnnl::reorder::primitive_desc description(onednn::engine(), onednn::layout_of(x), onednn::engine(),
                                                  target, onednn::attributes());
  const onednn::Kernel kernel("reorder", description, {DNNL_ARG_FROM, DNNL_ARG_TO});
  return onednn::to_layout(x, kernel.layout(DNNL_ARG_TO));
}

/// Walks over all runs of a tensor whose elements are their own row-major numbers, and checks that each is
/// met once, in a lane of its channel.
void expect_every_element_once(const Tensor& x) {
  SCOPED_TRACE(to_text(x.shape(), " in ", x.layout() ? x.layout()->name : "plain"));
  ASSERT_TRUE(has_channels(x));
  const Channels channels(x);
  const auto* elements = static_cast<const float*>(x.raw());
  const int64_t positions = x.count() / x.dim(0) / x.dim(1);
  std::vector<int> met(static_cast<size_t>(x.count()));
  std::vector<int64_t> counted(static_cast<size_t>(x.dim(1)));
  for (int64_t i = 0; i < channels.run_count(); ++i) {
    const ChannelRun run = channels.run(i);
    const int inside = channels.one_channel() ? Floats::kCount : channels.channels_in(run.group);
    run.for_each([&](int64_t at, int lanes) {
      for (int lane = 0; lane < lanes; ++lane) {
        if (lane >= inside) {
          EXPECT_EQ(elements[at + lane], 0) << "padding";
          continue;
        }
        const auto number = static_cast<int64_t>(elements[at + lane]);
        ++met[static_cast<size_t>(number)];
        EXPECT_EQ(number / positions % x.dim(1),
                  channels.first_channel(run.group) + (channels.one_channel() ? 0 : lane));
      }
    });
    for (int c = 0; c < channels.channels_in(run.group); ++c) {
      counted[static_cast<size_t>(channels.first_channel(run.group) + c)] += channels.positions(run);
    }
  }
  EXPECT_EQ(met, std::vector<int>(met.size(), 1));
  EXPECT_EQ(counted, std::vector<int64_t>(counted.size(), x.dim(0) * positions));
}

TEST(Channels, EveryElementIsMetOnceInALaneOfItsChannel) {
  using Tag = dnnl::memory::format_tag;
  for (const Shape& shape : {Shape{2, 3, 4, 5}, {3, 16, 2, 2}, {2, 20, 3, 3}, {1, 40, 1, 7}, {2, 1, 5, 5}}) {
    const Tensor x = counting(shape);
    expect_every_element_once(x);
    expect_every_element_once(in_format(x, Tag::nChw16c));
    expect_every_element_once(in_format(x, Tag::nChw8c));
    expect_every_element_once(in_format(x, Tag::nhwc));
  }
  expect_every_element_once(counting({3, 17}));
  expect_every_element_once(counting({2, 3, 100, 101}));  // runs of a channel, and a tail
  expect_every_element_once(in_format(counting({2, 16, 40, 40}), Tag::nChw16c));
}

TEST(Channels, NumbersPerChannelGoToTheirLanes) {
  const Tensor x = in_format(counting({1, 20, 1, 1}), dnnl::memory::format_tag::nChw16c);
  const Channels channels(x);
  EXPECT_EQ(channels.groups(), 2);
  const std::vector<float> numbers = counting({20}).to_vector<float>();
  float lanes[Floats::kCount];
  store(lanes, channels.of_group(numbers.data(), 1));
  EXPECT_EQ(lanes[3], 19);
  EXPECT_EQ(lanes[4], 0) << "padding";
  const Channels plain(counting({1, 20, 2, 2}));
  store(lanes, plain.of_group(numbers.data(), 7));
  EXPECT_EQ(lanes[0], 7);
  EXPECT_EQ(lanes[15], 7);
}

TEST(Channels, OtherLayoutsAreRefused) {
  const Tensor x = counting({16, 16, 2, 2});
  EXPECT_FALSE(has_channels(in_format(x, dnnl::memory::format_tag::NChw16n16c)));
}

TEST(Floats, OfBfloat16AreRoundedAsItsConversionDoes) {
  const std::vector<float> values = {
      1.0F,          1.00390625F, 1.01171875F, -0.0F, 3.4e38F, 1e-40F, -1.00390F, 65504,
      std::nanf(""), -1e30F,      0.1F,        -0.1F, 7,       8,      9,         10};
  BFloat16 stored[Floats::kCount];
  store(stored, arranged<BFloat16>(load(values.data())));
  float loaded[Floats::kCount];
  store(loaded, in_memory_order<BFloat16>(load(stored)));
  for (size_t i = 0; i < values.size(); ++i) {
    const BFloat16 expected(values[i]);
    EXPECT_EQ(stored[i].bits, expected.bits) << values[i];
    EXPECT_EQ(std::bit_cast<uint32_t>(loaded[i]), std::bit_cast<uint32_t>(static_cast<float>(expected)));
  }
}

}  // namespace
}  // namespace lockstep::ops::cpu
