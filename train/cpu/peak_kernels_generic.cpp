#include "train/cpu/peak_kernels.h"

namespace lockstep::train::cpu {
namespace {

// For the compiler to make vectors of, several of them.
constexpr int kSums = 64;

float multiply_add(int64_t rounds) {
  float sums[kSums];
  for (int i = 0; i < kSums; ++i) sums[i] = static_cast<float>(i);  // equal ones would be computed once
  for (int64_t round = 0; round < rounds; ++round) {
    for (float& sum : sums) sum = sum * 0.5F + 0.5F;
  }
  float total = 0;
  for (const float sum : sums) total += sum;
  return total;
}

void triad(const float* a, const float* b, float factor, float* result, int64_t count) {
  for (int64_t i = 0; i < count; ++i) result[i] = a[i] + factor * b[i];
}

constexpr PeakKernels kGeneric{"compiled", multiply_add, 2.0 * kSums, triad};

}  // namespace

const PeakKernels& peak_kernels() {
  return kGeneric;
}

}  // namespace lockstep::train::cpu
