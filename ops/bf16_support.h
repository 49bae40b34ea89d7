// Whether this processor computes faster in bf16 than in f32. A fixed rule, never a measurement: ranks must
// come to the same answer.
#pragma once

#include <string>

namespace lockstep::ops {

/// What the library may use of the processor: its own limit, ONEDNN_MAX_CPU_ISA, counts.
struct Bf16Features {
  bool avx512 = false;       ///< with byte, word and vector-length extensions
  bool avx512_bf16 = false;  ///< dot products of bf16 pairs
  bool amx_bf16 = false;     ///< tiles of bf16
  bool amd = false;
  std::string processor = {};  ///< for messages: "AuthenticAMD with avx512_core_bf16"
};

Bf16Features bf16_features();

/// Whether the library has bf16 kernels here at all, slow ones included; without them operations that rest on
/// the library throw Error.
bool has_bf16_kernels(const Bf16Features& features);

/// Empty where bf16 is faster than f32, else why it is not: "BF16 needs ..., this processor (...) has
/// neither".
std::string bf16_obstacle(const Bf16Features& features);

}  // namespace lockstep::ops
