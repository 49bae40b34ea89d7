#include "ops/dropout/dropout.h"

#include <cmath>

#include "ops/dropout/dropout_kernels.h"
#include "ops/operands.h"
#include "runtime/autograd.h"
#include "runtime/profile.h"

namespace lockstep::ops {
namespace {

Tensor masked(const Tensor& x, const Tensor& keep, float factor) {
  const Tensor input = plain_contiguous(x);
  Tensor result = Tensor::empty(x.shape(), x.dtype());
  cpu::apply_mask(x.dtype(), input.raw(), keep.data<uint8_t>(), factor, result.raw(), x.count());
  return result;
}

}  // namespace

Tensor dropout(const Tensor& x, double probability, const RandomKey& key, uint32_t layer) {
  const profile::Span span("dropout");
  check_float("dropout", x);
  check_cpu("dropout", x);
  check(probability >= 0 && probability < 1, "dropout", "expected a probability in [0, 1), got ",
        probability);
  check(key.micro_batch >> 32 == 0, "dropout", "expected a micro-batch below 2^32, got ", key.micro_batch);
  if (probability == 0) return x;

  const RandomStream stream(key.seed, Purpose::kDropout, key.step, key.micro_batch << 32 | layer);
  const auto threshold = static_cast<uint32_t>(std::lround(probability * 0x1p24));
  Tensor keep = Tensor::empty(x.shape(), DType::kU8);
  cpu::draw_mask(stream, threshold, keep.data<uint8_t>(), keep.count());

  // Drawing again in backward would cost more time than a byte per element costs memory.
  const auto factor = static_cast<float>(1 / (1 - probability));
  return record("dropout", masked(x, keep, factor), {x}, [keep, factor](BackwardContext& context) {
    context.add(0, masked(context.grad(), keep, factor));
  });
}

}  // namespace lockstep::ops
