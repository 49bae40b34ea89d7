// Where memory lives and where an operation runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <utility>

#include "build_config.h"
#include "runtime/error.h"

namespace lockstep {

enum class DeviceKind : uint8_t { kCpu, kCuda };

struct Device {
  DeviceKind kind = DeviceKind::kCpu;
  int index = 0;
  bool operator==(const Device&) const = default;
};

inline constexpr Device kCpu{};

std::ostream& operator<<(std::ostream& out, const Device& device);  ///< "cpu" or "cuda:1"

/// The only branch between devices in the project: runs one of two calls. In a CPU build the CUDA call is not
/// even instantiated, so it needs no definition there; pass it as a generic lambda: `[&](auto) {
/// relu_cuda(...); }`.
template <class CpuCall, class CudaCall>
decltype(auto) on_device(const Device& device, CpuCall&& cpu_call, CudaCall&& cuda_call) {
  if constexpr (kHasCuda) {
    if (device.kind == DeviceKind::kCuda) return std::forward<CudaCall>(cuda_call)(0);
  }
  check<DeviceError>(device.kind == DeviceKind::kCpu, "on_device",
                     "this build has no CUDA back end; got device ", device);
  return std::forward<CpuCall>(cpu_call)();
}

/// CUDA devices that can be used now: 0 in a CPU build and where there is no driver.
int cuda_device_count();

/// Raw device memory, at least 64-byte aligned; used by the pool only. Throws DeviceError when there is no
/// more.
void* allocate_device_memory(size_t nbytes, const Device& device);
void free_device_memory(void* memory, const Device& device) noexcept;
void copy_device_memory(void* target, const Device& target_device, const void* source,
                        const Device& source_device, size_t nbytes);

}  // namespace lockstep
