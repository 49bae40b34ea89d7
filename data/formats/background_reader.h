// A file's content in memory, read by a thread of its own, so that a program can start before all of it is
// there.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "data/formats/byte_stream.h"

namespace lockstep::data {

class BackgroundReader {
 public:
  /// Reads the stream's next `nbytes` bytes, which must be its last. Takes address space at once, memory as
  /// it reads.
  BackgroundReader(ByteStream stream, size_t nbytes);
  ~BackgroundReader();
  BackgroundReader(const BackgroundReader&) = delete;
  BackgroundReader& operator=(const BackgroundReader&) = delete;

  /// The content, once its first `nbytes` bytes are there. Thread safe. Throws the stream's DataError when
  /// reading has failed, anywhere; the last byte is there only after the whole file proved to be in order.
  const std::byte* wait_for(size_t nbytes) const;

 private:
  void run();
  void publish(size_t available);

  ByteStream stream_;
  size_t nbytes_;
  std::unique_ptr<std::byte[]> content_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::atomic<size_t> available_{0};  ///< bytes at the front that readers may use; 0 again after a failure
  std::string failure_;               ///< under the mutex; empty unless reading has failed
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace lockstep::data
