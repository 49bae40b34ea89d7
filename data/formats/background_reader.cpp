#include "data/formats/background_reader.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "runtime/error.h"
#include "runtime/threads.h"

namespace lockstep::data {

namespace {

constexpr size_t kChunkBytes = 1 << 20;

}  // namespace

BackgroundReader::BackgroundReader(ByteStream stream, size_t nbytes)
    : stream_(std::move(stream)),
      nbytes_(nbytes),
      content_(std::make_unique_for_overwrite<std::byte[]>(nbytes)),
      thread_(start_thread("read", [this] { run(); })) {}

BackgroundReader::~BackgroundReader() {
  stop_ = true;
  thread_.join();
}

const std::byte* BackgroundReader::wait_for(size_t nbytes) const {
  if (available_.load(std::memory_order_acquire) < nbytes) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return available_ >= nbytes || !failure_.empty(); });
    if (!failure_.empty()) throw DataError(failure_);
  }
  return content_.get();
}

void BackgroundReader::run() {
  try {
    for (size_t begin = 0; begin < nbytes_ && !stop_;) {
      const size_t end = std::min(begin + kChunkBytes, nbytes_);
      stream_.read({content_.get() + begin, end - begin});
      if (end == nbytes_) stream_.finish();
      publish(end);
      begin = end;
    }
  } catch (const std::exception& error) {
    const std::lock_guard lock(mutex_);
    failure_ = error.what();
    available_ = 0;
    changed_.notify_all();
  }
}

void BackgroundReader::publish(size_t available) {
  const std::lock_guard lock(mutex_);
  available_.store(available, std::memory_order_release);
  changed_.notify_all();
}

}  // namespace lockstep::data
