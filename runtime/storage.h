// A ref-counted block of device memory, shared by a tensor and its views.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "runtime/device.h"

namespace lockstep {

class Storage {
 public:
  /// Memory from the pool, uninitialised, 64-byte aligned.
  static std::shared_ptr<Storage> allocate(size_t nbytes, const Device& device);
  /// Memory that somebody else owns; `release` runs when the last reference goes.
  static std::shared_ptr<Storage> wrap(void* data, size_t nbytes, const Device& device,
                                       std::function<void()> release);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  std::byte* data() const { return data_; }
  size_t nbytes() const { return nbytes_; }
  const Device& device() const { return device_; }

  /// Counts in-place changes, so that autograd notices when a saved tensor was overwritten before backward
  /// used it.
  uint32_t version() const { return version_.load(std::memory_order_relaxed); }
  void bump_version() { version_.fetch_add(1, std::memory_order_relaxed); }

 private:
  Storage(void* data, size_t nbytes, const Device& device, std::function<void()> release);
  std::byte* data_;
  size_t nbytes_;
  Device device_;
  std::function<void()> release_;  // empty: the block goes back to the pool
  std::atomic<uint32_t> version_{0};
};

}  // namespace lockstep
