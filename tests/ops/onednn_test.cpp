#include "ops/cpu/onednn.h"

#include <gtest/gtest.h>

#include <numeric>
#include <thread>

#include "ops/cast/cast.h"
#include "ops/conv2d/conv2d.h"
#include "runtime/autograd.h"
#include "tests/support/expect_error.h"
#include "tests/support/reference.h"

namespace lockstep::ops::onednn {
namespace {

/// A kernel that brings x into a format of the test's choice.
Kernel reorder_kernel(const Tensor& x, const dnnl::memory::desc& format) {
  return {"test",
          dnnl::reorder::primitive_desc(engine(), layout_of(x), engine(), format, attributes()),
          {DNNL_ARG_FROM, DNNL_ARG_TO}};
}

dnnl::memory::desc blocked_by_16(const Shape& shape) {
  return {{shape.begin(), shape.end()}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::aBcd16b};
}

Tensor counting(const Shape& shape) {
  Tensor x = Tensor::empty(shape);
  std::iota(x.data<float>(), x.data<float>() + x.count(), 0.0F);
  return x;
}

TEST(OneDnn, LayoutsAreNamedPaddedAndShared) {
  const Tensor x = counting({2, 20, 3, 3});
  const Kernel kernel = reorder_kernel(x, blocked_by_16(x.shape()));
  EXPECT_EQ(kernel.layout(DNNL_ARG_FROM), nullptr) << "row-major is plain";
  const Layout layout = kernel.layout(DNNL_ARG_TO);
  ASSERT_NE(layout, nullptr);
  EXPECT_EQ(layout->name, "aBcd16b");
  EXPECT_EQ(layout->nbytes, 2 * 32 * 3 * 3 * sizeof(float)) << "20 channels are padded to 32";
  EXPECT_EQ(reorder_kernel(x, blocked_by_16(x.shape())).layout(DNNL_ARG_TO), layout) << "one object a format";
  const Tensor image = counting({4, 1, 3, 3});
  const dnnl::memory::desc channels_last({4, 1, 3, 3}, dnnl::memory::data_type::f32,
                                         dnnl::memory::format_tag::acdb);
  EXPECT_EQ(reorder_kernel(image, channels_last).layout(DNNL_ARG_TO), nullptr)
      << "with one channel that is row-major too";
}

TEST(OneDnn, ABlockOfAllChannelsIsChannelsLast) {
  const auto layout = [](const Shape& shape, dnnl::memory::format_tag tag) {
    const dnnl::memory::desc target({shape[0], shape[1], shape[2], shape[3]}, dnnl::memory::data_type::f32,
                                    tag);
    return reorder_kernel(counting(shape), target).layout(DNNL_ARG_TO);
  };
  using Tag = dnnl::memory::format_tag;
  EXPECT_EQ(layout({2, 16, 3, 5}, Tag::aBcd16b), layout({2, 16, 3, 5}, Tag::acdb));
  EXPECT_NE(layout({2, 32, 3, 5}, Tag::aBcd16b), layout({2, 32, 3, 5}, Tag::acdb));
  EXPECT_NE(layout({2, 10, 3, 5}, Tag::aBcd16b), layout({2, 10, 3, 5}, Tag::acdb)) << "the block is padded";
}

TEST(OneDnn, ReordersKeepEveryElementAndAreCounted) {
  const Tensor x = counting({2, 20, 3, 5});
  const Layout layout = reorder_kernel(x, blocked_by_16(x.shape())).layout(DNNL_ARG_TO);
  const uint64_t before = reorder_count();
  EXPECT_TRUE(to_layout(x, nullptr).same_memory(x)) << "nothing to do";
  EXPECT_EQ(reorder_count(), before);
  const Tensor blocked = to_layout(x, layout);
  EXPECT_EQ(reorder_count(), before + 1);
  EXPECT_EQ(blocked.layout(), layout);
  EXPECT_TRUE(to_layout(blocked, layout).same_memory(blocked));
  EXPECT_EQ(reorder_count(), before + 1);
  EXPECT_EQ(blocked.to_vector<float>(), x.to_vector<float>());
  EXPECT_EQ(reorder_count(), before + 2) << "unpacking is a reorder";
  const auto* memory = static_cast<const float*>(blocked.raw());
  EXPECT_EQ(memory[1], 15) << "the second channel lies beside the first";

  const Tensor strided = counting({2, 3, 5, 20}).permute({0, 3, 1, 2});
  EXPECT_EQ(to_layout(strided, layout).to_vector<float>(), strided.to_vector<float>());
}

TEST(OneDnn, PackedParametersAreReorderedAgainOnlyAfterAChange) {
  Tensor weight = counting({2, 20, 3, 5});
  const Layout layout = reorder_kernel(weight, blocked_by_16(weight.shape())).layout(DNNL_ARG_TO);
  const Tensor first = packed(weight, layout, DType::kF32);
  EXPECT_EQ(first.to_vector<float>(), weight.to_vector<float>());
  const uint64_t before = reorder_count();
  EXPECT_TRUE(packed(weight, layout, DType::kF32).same_memory(first));
  EXPECT_EQ(reorder_count(), before);
  weight.fill(3);
  EXPECT_EQ(static_cast<const float*>(packed(weight, layout, DType::kF32).raw())[0], 3);
  EXPECT_EQ(reorder_count(), before + 1);

  const auto packed_value_of_another = [&](float value) {
    const Tensor other = Tensor::full(weight.shape(), value);  // the pool may give it the last one's memory
    return static_cast<const float*>(packed(other, layout, DType::kF32).raw())[0];
  };
  EXPECT_EQ(packed_value_of_another(4), 4);
  EXPECT_EQ(packed_value_of_another(5), 5);
}

TEST(OneDnn, AReorderCanRoundToBf16InTheSamePass) {
  const Tensor x = counting({2, 20, 3, 5});  // numbers below 600: above 256 bf16 has every second one
  const dnnl::memory::desc blocked({2, 20, 3, 5}, dnnl::memory::data_type::bf16,
                                   dnnl::memory::format_tag::aBcd16b);
  const Tensor rounded = cast(x, DType::kBF16);
  const Layout layout = reorder_kernel(rounded, blocked).layout(DNNL_ARG_TO);
  const uint64_t before = reorder_count();
  const Tensor result = to_layout(x, layout, DType::kBF16);
  EXPECT_EQ(reorder_count(), before + 1);
  EXPECT_EQ(result.dtype(), DType::kBF16);
  EXPECT_EQ(test::to_array(result).values, test::to_array(rounded).values);
  EXPECT_EQ(test::to_array(to_layout(x, nullptr, DType::kBF16)).values, test::to_array(rounded).values);
  EXPECT_EQ(to_layout(result, nullptr, DType::kF32).dtype(), DType::kF32);
  const Tensor plain = packed(x, nullptr, DType::kBF16);
  EXPECT_EQ(plain.dtype(), DType::kBF16);
  EXPECT_TRUE(packed(x, nullptr, DType::kBF16).same_memory(plain)) << "kept, since it is a copy";
  EXPECT_TRUE(packed(x, nullptr, DType::kF32).same_memory(x));
}

TEST(OneDnn, KernelsAreMadeOncePerShapeTypeLayoutAndNumbers) {
  KernelCache cache;
  int made = 0;
  const auto get = [&](const Tensor& x, int64_t number) -> Kernel& {
    return cache.get("test", {x, Tensor()}, {number}, [&] {
      ++made;
      return reorder_kernel(x, row_major(x.shape()));
    });
  };
  const Tensor x = counting({2, 16, 3, 3});
  Kernel& first = get(x, 1);
  EXPECT_EQ(&get(x.clone(), 1), &first);
  EXPECT_EQ(made, 1);
  get(x, 2);
  EXPECT_EQ(made, 2) << "another number";
  get(counting({2, 16, 3, 4}), 1);
  EXPECT_EQ(made, 3) << "another shape";
  get(to_layout(x, reorder_kernel(x, blocked_by_16(x.shape())).layout(DNNL_ARG_TO)), 1);
  EXPECT_EQ(made, 4) << "another layout";
}

TEST(OneDnn, ErrorsNameOperationAndShapes) {
  KernelCache cache;
  const Tensor a = counting({2, 3});
  const Tensor b = counting({4, 5});
  test::expect_error<Error>(
      [&] {
        cache.get("product", {a, b}, {}, [&] {
          const dnnl::matmul::desc description(layout_of(a), layout_of(b), row_major({2, 5}));
          return Kernel("product", dnnl::matmul::primitive_desc(description, attributes(), engine()), {});
        });
      },
      "for shapes [2, 3], [4, 5]");
  const Tensor x = counting({2, 16, 3, 3});
  Kernel kernel = reorder_kernel(x, blocked_by_16(x.shape()));
  const Tensor wrong = Tensor::empty(x.shape());
  test::expect_error<Error>(
      [&] {
        kernel.run({{DNNL_ARG_FROM, x}, {DNNL_ARG_TO, wrong}});
      },
      "is not in the primitive's layout");
}

TEST(OneDnn, ThreadsComputeTheSameBitsSideBySide) {
  const auto run = [] {
    const Tensor x = test::to_tensor(test::random_array({4, 16, 9, 9}, 1));
    Tensor weight = test::to_tensor(test::random_array({24, 16, 3, 3}, 2));
    weight.set_requires_grad(true);
    for (int repeat = 0; repeat < 3; ++repeat) {
      const Tensor y = conv2d(x, weight, {}, {.padding = 1});
      backward(y, {.seed = test::to_tensor(test::random_array(y.shape(), 3)), .between_nodes = {}});
    }
    return weight.grad().to_vector<float>();
  };
  const std::vector<float> alone = run();
  std::vector<std::vector<float>> results(4);
  std::vector<std::thread> threads;
  for (auto& result : results) threads.emplace_back([&] { result = run(); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& result : results) EXPECT_EQ(result, alone);
}

}  // namespace
}  // namespace lockstep::ops::onednn
