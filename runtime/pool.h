// The memory pool behind Storage: freed blocks are kept by size class, so that a steady training step neither
// maps nor faults a page.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/device.h"

namespace lockstep::pool {

/// Counters of one device; bytes are of size classes, not of requests.
struct Statistics {
  uint64_t requests = 0;         ///< blocks handed out since the start
  uint64_t device_requests = 0;  ///< of these, how many needed new memory from the device
  size_t bytes_in_use = 0;
  size_t bytes_cached = 0;  ///< free, kept for the next request
  size_t peak_bytes_in_use = 0;
};

/// A request is rounded up to its size class: a multiple of 64 bytes up to 1 KiB, then eight classes per
/// power of two.
size_t size_class(size_t nbytes);

/// A block of at least `nbytes`, 64-byte aligned, uninitialised. Thread safe. Throws DeviceError when memory
/// is short, after the cache was given back to the device once.
void* allocate(size_t nbytes, const Device& device);
void release(void* block, size_t nbytes, const Device& device) noexcept;

Statistics statistics(const Device& device);
/// Gives all cached blocks back to the device.
void trim(const Device& device);

}  // namespace lockstep::pool
