// The raw memory of each kind of device, behind the functions of device.h. For device.cpp alone.
#pragma once

#include <cstddef>

namespace lockstep {

/// 64-byte aligned; from 2 MiB on aligned to 2 MiB and backed by huge pages where the system grants them.
void* allocate_cpu_memory(size_t nbytes);
void free_cpu_memory(void* memory) noexcept;
void copy_cpu_memory(void* target, const void* source, size_t nbytes);

/// 0 where there is no driver.
int count_cuda_devices();
void* allocate_cuda_memory(size_t nbytes, int index);
void free_cuda_memory(void* memory, int index) noexcept;
/// Either pointer may be host memory. Returns when the copy is complete.
void copy_cuda_memory(void* target, const void* source, size_t nbytes);

}  // namespace lockstep
