#include "parallel/gradient_memory.h"

#include <algorithm>
#include <array>

#include "comm/codecs/table.h"
#include "comm/reduce_kernels.h"
#include "runtime/autograd.h"
#include "runtime/error.h"
#include "runtime/threads.h"

namespace lockstep::parallel {
namespace {

constexpr int64_t kGrain = 1 << 15;
constexpr int64_t kBlock = 2048;  // elements whose partial sum stays in the first-level cache

/// Sums of several buffers, element by element: target <- addends[n-1] + (... + (addends[0] + last)). With a
/// codec, `last` is rounded in place before, and every sum; the addends are such sums.
struct Chain {
  float* last;
  std::vector<const float*> addends;
  float* target;
  const comm::CodecRow* codec;

  /// Elements [at, at + count), at most kBlock; with a codec, one of its blocks.
  void add_up(int64_t at, int64_t count) const {
    std::array<float, kBlock> partial;
    if (codec) codec->round(last + at, count);
    const float* sum = last + at;
    for (const float* addend : addends) {
      float* const result = addend == addends.back() ? target + at : partial.data();
      comm::reduce(comm::ReduceOp::kSum, DType::kF32, count, sum, addend + at, result);
      if (codec) codec->round(result, count);
      sum = result;
    }
  }
};

size_t byte_offset(int64_t element) {
  return static_cast<size_t>(element) * sizeof(float);
}

}  // namespace

GradientMemory::GradientMemory(std::vector<Parameter*> parameters, const BucketPlan& plan,
                               comm::Communicator& communicator)
    : parameters_(std::move(parameters)),
      plan_(plan),
      communicator_(communicator),
      values_(Tensor::zeros({plan.count})) {
  for (size_t i = 0; i < parameters_.size(); ++i) {
    Tensor& value = parameters_[i]->value;
    Tensor view = Tensor::on(values_.storage(), byte_offset(plan.offsets[i]), value.shape(), DType::kF32);
    view.copy_from(value);
    view.set_requires_grad(true);
    value = view;
  }
}

GradientMemory::Buffer& GradientMemory::buffer(int number) {
  const auto index = static_cast<size_t>(number);
  while (buffers_.size() <= index) {
    const std::shared_ptr<Storage> memory = communicator_.allocate(byte_offset(plan_.count));
    Buffer fresh{Tensor::on(memory, 0, {plan_.count}, DType::kF32), {}};
    for (size_t i = 0; i < parameters_.size(); ++i) {
      fresh.views.push_back(Tensor::on(fresh.memory.storage(), byte_offset(plan_.offsets[i]),
                                       parameters_[i]->value.shape(), DType::kF32));
    }
    buffers_.push_back(std::move(fresh));
  }
  return buffers_[index];
}

void GradientMemory::bind(int number) {
  Buffer& target = buffer(number);
  for (size_t i = 0; i < parameters_.size(); ++i) parameters_[i]->value.leaf_gradient().bind(target.views[i]);
}

void GradientMemory::complete(const Bucket& range, int number) {
  for (const int p : range.parameters) {
    const auto i = static_cast<size_t>(p);
    if (!parameters_[i]->value.leaf_gradient().written()) buffer(number).views[i].fill(-0.0);
  }
}

void GradientMemory::fill_neutral(int number, const Bucket& range) {
  std::fill_n(data(number, range), range.count, -0.0F);
}

void GradientMemory::add(const SlotStep& step, const Bucket& range, comm::Codec codec) {
  Chain chain{data(step.buffer, range), {}, data(step.target, range), comm::find_codec(codec)};
  if (step.addends.empty() && !chain.codec) return;
  for (const int addend : step.addends) chain.addends.push_back(data(addend, range));
  const int64_t block = chain.codec ? chain.codec->block_count : kBlock;
  ensure(block <= kBlock, "gradient memory", "a codec has blocks of ", block, " elements");
  const int64_t blocks = (range.count + block - 1) / block;
  parallel_for(blocks, kGrain / block, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) chain.add_up(b * block, std::min(block, range.count - b * block));
  });
}

float* GradientMemory::data(int number, const Bucket& range) {
  return buffer(number).memory.data<float>() + range.offset;
}

Tensor GradientMemory::gradient(size_t parameter) {
  return buffer(kBucketBuffer).views.at(parameter);
}

}  // namespace lockstep::parallel
