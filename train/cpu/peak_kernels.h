// The loops that show what a core can do. One file per architecture, which the build picks.
#pragma once

#include <cstdint>

namespace lockstep::train::cpu {

struct PeakKernels {
  const char* name;  ///< of the instructions, "AVX-512"
  /// Independent multiply-adds in registers, on the calling thread; returns one of their sums, so that
  /// they cannot be left out.
  float (*multiply_add)(int64_t rounds);
  double operations_per_round;
  /// result[i] = a[i] + factor * b[i]; result is written past the caches where the processor can. All
  /// pointers are aligned to kAlignment bytes, count is a multiple of kStreamBlock.
  void (*triad)(const float* a, const float* b, float factor, float* result, int64_t count);
};

inline constexpr int64_t kAlignment = 64;
inline constexpr int64_t kStreamBlock = 16;

/// The widest that this processor has.
const PeakKernels& peak_kernels();

}  // namespace lockstep::train::cpu
