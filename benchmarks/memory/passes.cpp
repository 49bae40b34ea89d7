#include "benchmarks/memory/passes.h"

#include <cstddef>
#include <memory>
#include <string>

#include "comm/codecs/table.h"
#include "comm/host/host_communicator.h"
#include "comm/local/local_group.h"
#include "data/augment.h"
#include "ops/elementwise/elementwise.h"
#include "ops/relu/relu.h"
#include "optim/table.h"
#include "parallel/finite.h"
#include "parallel/gradient_memory.h"
#include "runtime/threads.h"

namespace lockstep::benchmarks {
namespace {

using Action = std::function<void()>;

constexpr int64_t kGrain = 1 << 15;

/// y[i] = formula(i, y[i]) over all elements, by the team.
template <class Formula>
Action plain_loop(int64_t count, const Formula& formula) {
  const Tensor y = Tensor::full({count}, 1);
  return [=] {
    parallel_for(count, kGrain, [=, values = y.data<float>()](int64_t begin, int64_t end) {
#pragma omp simd
      for (int64_t i = begin; i < end; ++i) values[i] = formula(i, values[i]);
    });
  };
}

Action copy(int64_t count) {
  const Tensor a = Tensor::full({count}, 1);
  return plain_loop(count, [a, x = a.data<float>()](int64_t i, float) { return x[i]; });
}

Action sum(int64_t count) {
  const Tensor a = Tensor::full({count}, 1);
  const Tensor b = Tensor::full({count}, 1);
  return plain_loop(
      count, [a, b, x = a.data<float>(), z = b.data<float>()](int64_t i, float) { return x[i] + z[i]; });
}

Action triad(int64_t count) {
  const Tensor a = Tensor::full({count}, 1);
  const Tensor b = Tensor::full({count}, 1);
  return plain_loop(count, [a, b, x = a.data<float>(), z = b.data<float>()](int64_t i, float) {
    return x[i] + 0.5F * z[i];
  });
}

Action update(int64_t count) {
  const Tensor a = Tensor::full({count}, 0);
  return plain_loop(count, [a, x = a.data<float>()](int64_t i, float y) { return y + x[i]; });
}

Action read(int64_t count) {
  const Tensor a = Tensor::full({count}, 0);
  return [=] {
    parallel_for(count, kGrain, [x = static_cast<const int32_t*>(a.raw())](int64_t begin, int64_t end) {
      int32_t bits = 0;
      for (int64_t i = begin; i < end; ++i) bits |= x[i];
      [[maybe_unused]] volatile int32_t kept = bits;
    });
  };
}

Action all_finite(int64_t count) {
  return [values = Tensor::full({count}, 1)] {
    parallel::all_finite({values.data<float>(), static_cast<size_t>(values.count())});
  };
}

Action add_in_place(int64_t count) {
  Tensor target = Tensor::full({count}, 0);
  return [target, addend = Tensor::full({count}, 0)]() mutable { target.add_in_place(addend); };
}

Action relu(int64_t count) {
  return [x = Tensor::full({count}, 1)] { ops::relu(x); };
}

Action add(int64_t count) {
  return [a = Tensor::full({count}, 1), b = Tensor::full({count}, 1)] { ops::add(a, b); };
}

/// Adds buffers 2, 3, ... to buffer 1, into the last of them, as at an inner node of the tree.
Action tree_sum(int64_t count, std::vector<int> addends, comm::Codec codec = comm::Codec::kNone) {
  struct Gradients {
    explicit Gradients(int64_t count)
        : parameter{"weight", Tensor::zeros({count}), {}},
          plan(parallel::plan_buckets({count}, {})),
          communicator(comm::LocalGroup(1).transport(0), {}),
          memory({&parameter}, plan, communicator) {}
    Parameter parameter;
    parallel::BucketPlan plan;
    comm::HostCommunicator communicator;
    parallel::GradientMemory memory;
  };
  auto gradients = std::make_shared<Gradients>(count);
  for (int buffer = 0; buffer <= addends.back(); ++buffer) gradients->memory.bind(buffer);
  const int target = addends.back();
  return [gradients, codec, step = parallel::SlotStep{0, 1, std::move(addends), target}] {
    for (const parallel::Bucket& bucket : gradients->plan.buckets) gradients->memory.add(step, bucket, codec);
  };
}

Action optimizer_step(const char* name, double momentum, int64_t count) {
  const optim::OptimizedParameter parameter{"weight", Tensor::full({count}, 1), Tensor::full({count}, 0.5F)};
  optim::OptimizerOptions options;
  options.momentum = momentum;
  const std::shared_ptr<optim::Optimizer> optimizer = optim::make_optimizer(name, options, {parameter});
  return [optimizer] { optimizer->step({.lr = 1e-9, .gradient_divisor = 96}); };
}

/// A batch of pictures, from bytes to normalised numbers.
Action normalise(int64_t count) {
  const data::SampleSpec spec{"pictures", {3, 32, 32}, DType::kU8, 10};
  data::AugmentOptions options;
  options.mean = {0.5, 0.5, 0.5};
  options.std = {0.2, 0.2, 0.2};
  const int64_t pictures = count / spec.nbytes();
  const Tensor input = Tensor::zeros({pictures * spec.nbytes()}, DType::kU8);
  const Tensor output = Tensor::zeros({pictures * spec.nbytes()});
  return [=, augmenter = std::make_shared<data::Augmenter>(options, spec), size = spec.nbytes()] {
    for (int64_t i = 0; i < pictures; ++i) {
      augmenter->apply(static_cast<const std::byte*>(input.raw()) + i * size, 0, i,
                       output.data<float>() + i * size);
    }
  };
}

enum class Way { kEncode, kDecode, kRound };

/// Gradients on their way through a codec, by one thread: as the one that carries out collectives.
Action code(comm::Codec name, Way way, int64_t count) {
  const comm::CodecRow& codec = *comm::find_codec(name);
  const Tensor values = Tensor::full({count}, 1e-3F);
  const Tensor wire =
      Tensor::zeros({codec.blocks_of(count) * static_cast<int64_t>(codec.block_bytes)}, DType::kU8);
  codec.encode(values.data<float>(), count, static_cast<std::byte*>(wire.raw()));
  return [=, &codec] {
    auto* const bytes = static_cast<std::byte*>(wire.raw());
    switch (way) {
      case Way::kEncode:
        return codec.encode(values.data<float>(), count, bytes);
      case Way::kDecode:
        return codec.decode(bytes, count, values.data<float>());
      case Way::kRound:
        return codec.round(values.data<float>(), count);
    }
  };
}

Pass codec_pass(const char* title, comm::Codec codec, Way way) {
  const int bytes = way == Way::kRound ? 8 : 6;
  return {title, "copy", bytes, [=](int64_t count) { return code(codec, way, count); }};
}

Pass optimizer_pass(const char* title, const char* name, double momentum, int bytes) {
  return {title, "update", bytes, [=](int64_t count) { return optimizer_step(name, momentum, count); }};
}

}  // namespace

std::vector<Pass> memory_passes() {
  return {
      {"read", "", 4, read},
      {"update", "", 12, update},
      {"copy", "", 8, copy},
      {"sum", "", 12, sum},
      {"triad", "", 12, triad},
      {"all_finite", "read", 4, all_finite},
      {"Tensor::add_in_place", "update", 12, add_in_place},
      {"tree sum of 2", "update", 12, [](int64_t count) { return tree_sum(count, {2}); }},
      {"tree sum of 4", "update", 20,
       [](int64_t count) {
         return tree_sum(count, {2, 3, 4});
       }},
      {"tree sum of 2, fp16", "update", 12,
       [](int64_t count) { return tree_sum(count, {2}, comm::Codec::kFp16); }},
      optimizer_pass("sgd", "sgd", 0, 12),
      optimizer_pass("sgd, momentum", "sgd", 0.9, 20),
      optimizer_pass("lars", "lars", 0.9, 28),  // weights and gradients twice: first for their norms
      optimizer_pass("adamw", "adamw", 0, 28),
      optimizer_pass("lion", "lion", 0, 20),
      optimizer_pass("lamb", "lamb", 0, 40),  // weights and moments twice
      codec_pass("encode fp16", comm::Codec::kFp16, Way::kEncode),
      codec_pass("decode fp16", comm::Codec::kFp16, Way::kDecode),
      codec_pass("round fp16", comm::Codec::kFp16, Way::kRound),
      codec_pass("encode bf16", comm::Codec::kBf16, Way::kEncode),
      codec_pass("decode bf16", comm::Codec::kBf16, Way::kDecode),
      codec_pass("round bf16", comm::Codec::kBf16, Way::kRound),
      {"relu", "copy", 8, relu},
      {"add", "sum", 12, add},
      {"normalise", "copy", 5, normalise},
  };
}

}  // namespace lockstep::benchmarks
