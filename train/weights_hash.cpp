#include "train/weights_hash.h"

#include "train/hash.h"

namespace lockstep::train {
namespace {

void update(Hash64& hash, const std::string& text) {
  const uint64_t length = text.size();
  hash.update(&length, sizeof length);
  hash.update(text.data(), text.size());
}

uint64_t hash_tensor(const NamedTensor& named) {
  const Tensor plain = named.value.to(kCpu).contiguous();
  Hash64 hash;
  update(hash, named.name);
  update(hash, name_of(plain.dtype()));
  const auto ndim = static_cast<uint64_t>(plain.ndim());
  hash.update(&ndim, sizeof ndim);
  for (const int64_t extent : plain.shape()) hash.update(&extent, sizeof extent);
  hash.update(plain.raw(), static_cast<size_t>(plain.count()) * size_of(plain.dtype()));
  return hash.value();
}

}  // namespace

WeightsHash hash_weights(const std::vector<NamedTensor>& tensors) {
  WeightsHash result;
  Hash64 total;
  for (const NamedTensor& tensor : tensors) {
    const uint64_t hash = hash_tensor(tensor);
    total.update(&hash, sizeof hash);
    result.tensors.emplace_back(tensor.name, hash);
  }
  result.total = total.value();
  return result;
}

}  // namespace lockstep::train
