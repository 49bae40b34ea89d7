#include "runtime/storage.h"

#include <utility>

#include "runtime/pool.h"

namespace lockstep {

Storage::Storage(void* data, size_t nbytes, const Device& device, std::function<void()> release)
    : data_(static_cast<std::byte*>(data)), nbytes_(nbytes), device_(device), release_(std::move(release)) {}

Storage::~Storage() {
  if (release_) {
    release_();
  } else {
    pool::release(data_, nbytes_, device_);
  }
}

std::shared_ptr<Storage> Storage::allocate(size_t nbytes, const Device& device) {
  return std::shared_ptr<Storage>(new Storage(pool::allocate(nbytes, device), nbytes, device, {}));
}

std::shared_ptr<Storage> Storage::wrap(void* data, size_t nbytes, const Device& device,
                                       std::function<void()> release) {
  if (!release) release = [] {};  // an empty one would mean the pool's own memory
  return std::shared_ptr<Storage>(new Storage(data, nbytes, device, std::move(release)));
}

}  // namespace lockstep
