// How kernels over a range of elements are launched: a fixed number of threads per block, a grid-stride loop
// inside.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "runtime/error.h"

namespace lockstep::ops::cuda {

inline constexpr int kBlockThreads = 256;

/// Enough blocks for `count` > 0 elements, and no more than fill any device several times over.
inline unsigned block_count(int64_t count) {
  constexpr int64_t kMostBlocks = 16384;
  return static_cast<unsigned>(std::min((count + kBlockThreads - 1) / kBlockThreads, kMostBlocks));
}

__device__ inline int64_t first_index() {
  return int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ inline int64_t index_step() {
  return int64_t{gridDim.x} * blockDim.x;
}

/// Throws DeviceError when the kernel launched last could not start.
inline void check_launch(const char* operation) {
  const cudaError_t status = cudaGetLastError();
  check<DeviceError>(status == cudaSuccess, operation,
                     "the CUDA kernel did not start: ", cudaGetErrorString(status));
}

}  // namespace lockstep::ops::cuda
