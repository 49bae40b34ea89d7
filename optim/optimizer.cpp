#include "optim/optimizer.h"

#include <algorithm>
#include <cmath>

#include "runtime/error.h"
#include "runtime/threads.h"

namespace lockstep::optim {
namespace {

/// Elements that one thread updates at least: 20 bytes of traffic each, so tens of microseconds of work.
constexpr int64_t kGrain = 1 << 15;

void check_view(const std::string& name, const char* what, const Tensor& tensor) {
  check(tensor.dtype() == DType::kF32 && tensor.is_contiguous() && tensor.device() == kCpu, "optimizer", what,
        " of ", name, ": expected plain f32 memory on the CPU, got ", tensor.dtype(), ' ', tensor.shape(),
        " on ", tensor.device(), tensor.is_contiguous() ? "" : ", not contiguous");
}

}  // namespace

Optimizer::Optimizer(std::vector<OptimizedParameter> parameters, StateLayout layout)
    : parameters_(std::move(parameters)), layout_(std::move(layout)) {
  offsets_.push_back(0);
  for (const OptimizedParameter& parameter : parameters_) {
    check_view(parameter.name, "value", parameter.value);
    check_view(parameter.name, "gradient", parameter.gradient);
    check(parameter.value.shape() == parameter.gradient.shape(), "optimizer", parameter.name,
          ": value has shape ", parameter.value.shape(), ", gradient ", parameter.gradient.shape());
    offsets_.push_back(offsets_.back() + parameter.value.count());
  }
  for (size_t i = 0; i < layout_.buffers.size(); ++i) buffers_.push_back(Tensor::zeros({offsets_.back()}));
  if (layout_.counts_steps) steps_ = Tensor::zeros({}, DType::kI64);
}

void Optimizer::step(const StepOptions& options) {
  check(std::isfinite(options.lr), "optimizer", "lr: expected a finite number, got ", options.lr);
  const auto divisor = static_cast<float>(options.gradient_divisor);
  check(std::isfinite(divisor) && divisor > 0, "optimizer",
        "gradient_divisor: expected a positive number of f32's range, got ", options.gradient_divisor);
  if (layout_.counts_steps) ++*steps_.data<int64_t>();
  update(options);
  for (OptimizedParameter& parameter : parameters_) parameter.value.bump_version();
}

std::vector<NamedTensor> Optimizer::state() const {
  std::vector<NamedTensor> tensors;
  for (size_t p = 0; p < parameters_.size(); ++p) {
    const Tensor& value = parameters_[p].value;
    for (size_t b = 0; b < buffers_.size(); ++b) {
      tensors.push_back({parameters_[p].name + '.' + layout_.buffers[b],
                         buffers_[b].narrow(0, offsets_[p], value.count()).view(value.shape())});
    }
  }
  if (layout_.counts_steps) tensors.push_back({"step", steps_});
  return tensors;
}

std::vector<int64_t> Optimizer::counts() const {
  std::vector<int64_t> counts;
  for (const OptimizedParameter& parameter : parameters_) counts.push_back(parameter.value.count());
  return counts;
}

Optimizer::Piece Optimizer::piece(size_t parameter, int64_t begin, int64_t count) const {
  return {parameters_[parameter], parameter, begin, offsets_[parameter] + begin, count};
}

void Optimizer::for_each_piece(const std::function<void(const Piece&)>& update) const {
  parallel_for(offsets_.back(), kGrain, [&](int64_t begin, int64_t end) {
    const auto next = std::upper_bound(offsets_.begin(), offsets_.end(), begin);
    for (auto p = static_cast<size_t>(next - offsets_.begin()) - 1; begin < end; ++p) {
      const int64_t stop = std::min(end, offsets_[p + 1]);
      if (begin < stop) update(piece(p, begin - offsets_[p], stop - begin));
      begin = stop;
    }
  });
}

}  // namespace lockstep::optim
