#include "ops/pool2d/pool2d.h"

#include <gtest/gtest.h>

#include "ops/window.h"
#include "tests/support/expect_error.h"

namespace lockstep::ops {
namespace {

TEST(Pool2d, AWindowHasAsManyPositionsAsFit) {
  EXPECT_EQ((Window{.kernel = 3}).positions(3), 1);
  EXPECT_EQ((Window{.kernel = 2, .stride = 2}).positions(7), 3);
  EXPECT_EQ((Window{.kernel = 3, .stride = 2, .padding = 1}).positions(7), 4);
  EXPECT_EQ((Window{.kernel = 3, .dilation = 2}).positions(7), 3);
  EXPECT_TRUE((Window{.kernel = 3, .padding = 1}).fits(1));
  EXPECT_FALSE((Window{.kernel = 3, .dilation = 2}).fits(4));
  EXPECT_EQ((Window{.kernel = 3, .stride = 2, .padding = 1}).extent(4), 7);
  EXPECT_EQ((Window{.kernel = 3, .dilation = 2}).extent(3), 7);
}

TEST(Pool2d, ResolvesTheStrideAndReturnsTheShape) {
  Pool2dOptions options{.kernel = 3, .padding = 1};
  EXPECT_EQ(check_pool2d("pool", Tensor::zeros({2, 5, 7, 4}), options), (Shape{2, 5, 3, 2}));
  EXPECT_EQ(options.stride, 3);
}

TEST(Pool2d, RefusesWhatHasNoMeaning) {
  const auto call = [](Pool2dOptions options) {
    return [=]() mutable { check_pool2d("pool", Tensor::zeros({1, 1, 4, 4}), options); };
  };
  test::expect_error<InvalidArgument>(call({.kernel = 0}), "[pool] expected a kernel of at least 1");
  test::expect_error<InvalidArgument>(call({.stride = -1}), "got kernel 2, stride -1");
  test::expect_error<InvalidArgument>(call({.kernel = 3, .padding = 2}),
                                      "half of the kernel, got padding 2, kernel 3");
  test::expect_error<InvalidArgument>(call({.kernel = 5}),
                                      "the window [5, 5] is larger than the padded image");
}

TEST(Pool2d, TheFormatOfAnInputOutlivesItsMemory) {
  std::weak_ptr<Storage> memory;
  const InputFormat format = [&] {
    const Tensor x = Tensor::zeros({1, 2, 3, 4});
    memory = x.storage();
    return InputFormat(x);
  }();
  EXPECT_TRUE(memory.expired());
  EXPECT_EQ(format.empty().shape(), (Shape{1, 2, 3, 4}));
  EXPECT_TRUE(format.empty().is_contiguous());
}

}  // namespace
}  // namespace lockstep::ops
