#include "runtime/pool.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace lockstep::pool {

namespace {

struct SizeClass {
  size_t blocks = 0;  // in use and free
  std::vector<void*> free;
};

/// The blocks of one device.
class DevicePool {
 public:
  void* allocate(size_t size, const Device& device) {
    const std::lock_guard lock(mutex_);
    SizeClass& size_class = classes_[size];
    if (size_class.free.empty()) {
      request_block(size_class, size, device);
    }
    void* const block = size_class.free.back();
    size_class.free.pop_back();
    ++statistics_.requests;
    statistics_.bytes_cached -= size;
    statistics_.bytes_in_use += size;
    statistics_.peak_bytes_in_use = std::max(statistics_.peak_bytes_in_use, statistics_.bytes_in_use);
    return block;
  }

  void release(void* block, size_t size) noexcept {
    const std::lock_guard lock(mutex_);
    classes_.find(size)->second.free.push_back(block);  // has room since request_block()
    statistics_.bytes_in_use -= size;
    statistics_.bytes_cached += size;
  }

  Statistics statistics() {
    const std::lock_guard lock(mutex_);
    return statistics_;
  }

  void trim(const Device& device) {
    const std::lock_guard lock(mutex_);
    give_back(device);
  }

 private:
  /// Adds a free block to a class that has none.
  void request_block(SizeClass& size_class, size_t size, const Device& device) {
    size_class.free.reserve(size_class.blocks + 1);
    void* block = nullptr;
    try {
      block = allocate_device_memory(size, device);
    } catch (const DeviceError&) {
      give_back(device);
      block = allocate_device_memory(size, device);
    }
    size_class.free.push_back(block);
    ++size_class.blocks;
    ++statistics_.device_requests;
    statistics_.bytes_cached += size;
  }

  void give_back(const Device& device) {
    for (auto& [size, size_class] : classes_) {
      for (void* const block : size_class.free) free_device_memory(block, device);
      size_class.blocks -= size_class.free.size();
      size_class.free.clear();
    }
    statistics_.bytes_cached = 0;
  }

  std::mutex mutex_;
  std::unordered_map<size_t, SizeClass> classes_;
  Statistics statistics_;
};

/// Never destroyed: tensors in static objects and in late threads may outlive any order of destruction.
DevicePool& pool_of(const Device& device) {
  constexpr size_t kMaxCudaDevices = 64;
  static auto& pools = *new std::array<DevicePool, 1 + kMaxCudaDevices>;
  if (device.kind == DeviceKind::kCpu) return pools[0];
  const auto index = static_cast<size_t>(device.index);
  check<DeviceError>(index < kMaxCudaDevices, "pool", "there is no device ", device);
  return pools[1 + index];
}

}  // namespace

size_t size_class(size_t nbytes) {
  constexpr size_t kGranule = 64;
  constexpr size_t kLargest = std::numeric_limits<size_t>::max() / 2;
  check<DeviceError>(nbytes <= kLargest, "pool", "a block of ", nbytes, " bytes was asked for");
  // Eight classes per power of two: of the sizes in (2^k, 2^(k+1)], the multiples of 2^k / 8.
  const size_t last_byte = std::max<size_t>(nbytes, 1) - 1;
  const size_t step = std::max(kGranule, std::bit_floor(last_byte) / 8);
  return (last_byte / step + 1) * step;
}

void* allocate(size_t nbytes, const Device& device) {
  return pool_of(device).allocate(size_class(nbytes), device);
}

void release(void* block, size_t nbytes, const Device& device) noexcept {
  pool_of(device).release(block, size_class(nbytes));
}

Statistics statistics(const Device& device) {
  return pool_of(device).statistics();
}

void trim(const Device& device) {
  pool_of(device).trim(device);
}

}  // namespace lockstep::pool
