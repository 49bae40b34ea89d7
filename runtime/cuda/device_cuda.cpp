#include <cuda_runtime.h>

#include "runtime/device_memory.h"
#include "runtime/error.h"

namespace lockstep {

namespace {

template <class... Parts>
void check_cuda(cudaError_t status, const char* operation, const Parts&... parts) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // the failure is reported here; the next call must not find it again
  throw DeviceError(to_text("[", operation, "] ", cudaGetErrorString(status), " (", cudaGetErrorName(status),
                            "): ", parts...));
}

}  // namespace

int count_cuda_devices() {
  static const int count = [] {
    int devices = 0;
    // Fails and leaves `devices` alone where there is no driver, which is not an error here.
    if (cudaGetDeviceCount(&devices) != cudaSuccess) cudaGetLastError();
    return devices;
  }();
  return count;
}

void* allocate_cuda_memory(size_t nbytes, int index) {
  check_cuda(cudaSetDevice(index), "allocate", "no device cuda:", index, " among ", count_cuda_devices());
  void* memory = nullptr;
  check_cuda(cudaMalloc(&memory, nbytes), "allocate", nbytes, " bytes on cuda:", index);
  return memory;
}

void free_cuda_memory(void* memory, int index) noexcept {
  // A failure here means that the driver is shutting down and takes the memory with it.
  cudaSetDevice(index);
  cudaFree(memory);
}

void copy_cuda_memory(void* target, const void* source, size_t nbytes) {
  check_cuda(cudaMemcpy(target, source, nbytes, cudaMemcpyDefault), "copy", nbytes, " bytes");
}

}  // namespace lockstep
