#include "runtime/device.h"

#include "runtime/device_memory.h"

namespace lockstep {

std::ostream& operator<<(std::ostream& out, const Device& device) {
  if (device.kind == DeviceKind::kCpu) return out << "cpu";
  return out << "cuda:" << device.index;
}

int cuda_device_count() {
  constexpr Device kBest{kHasCuda ? DeviceKind::kCuda : DeviceKind::kCpu};
  return on_device(
      kBest, [] { return 0; }, [](auto) { return count_cuda_devices(); });
}

void* allocate_device_memory(size_t nbytes, const Device& device) {
  return on_device(
      device, [&] { return allocate_cpu_memory(nbytes); },
      [&](auto) { return allocate_cuda_memory(nbytes, device.index); });
}

void free_device_memory(void* memory, const Device& device) noexcept {
  on_device(
      device, [&] { free_cpu_memory(memory); }, [&](auto) { free_cuda_memory(memory, device.index); });
}

void copy_device_memory(void* target, const Device& target_device, const void* source,
                        const Device& source_device, size_t nbytes) {
  on_device(
      target_device == kCpu ? source_device : target_device, [&] { copy_cpu_memory(target, source, nbytes); },
      [&](auto) { copy_cuda_memory(target, source, nbytes); });
}

}  // namespace lockstep
