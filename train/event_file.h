// Event files, which TensorBoard shows while a run goes on (`tensorboard --logdir RUN`).
//
// A file is a sequence of records: u64 length, u32 masked CRC of the length's bytes, the serialized Event
// (proto/tensorboard_event.proto), u32 masked CRC of it; all little-endian. The CRC is CRC-32C, rotated right
// by 15 bits plus 0xa282ead8. (TensorFlow, core/lib/io/record_writer.cc, core/lib/hash/crc32c.h.)
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proto/tensorboard_event.pb.h"
#include "train/files.h"

namespace lockstep::train {

uint32_t masked_crc32c(std::string_view bytes);
std::string event_record(const tensorboard::Event& event);

struct Scalar {
  std::string tag;  ///< "train/loss"
  double value = 0;
};

/// Belongs to one thread.
class EventFile {
 public:
  /// Begins a new file in `folder`, which is made if it is missing. TensorBoard reads a folder's files in the
  /// order of their names, "events.out.tfevents.<seconds>.<host>.<pid>.0", so the name's seconds are later
  /// than those of every file that is there. What those hold from `first_step` on is hidden: the run was
  /// resumed before it. Throws FileError.
  EventFile(const std::string& folder, int64_t first_step);
  /// Writes what is left; when that fails, it is lost with a warning.
  ~EventFile();
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  /// The values after `step`. Reaches the file at once or within kFlushInterval, when the next ones come.
  /// Throws FileError.
  void write(int64_t step, const std::vector<Scalar>& scalars);
  void flush();

  const std::string& path() const { return file_.path(); }

  static constexpr std::chrono::seconds kFlushInterval{2};

 private:
  using Clock = std::chrono::steady_clock;

  void append(tensorboard::Event& event);

  FileDescriptor file_;
  std::string unwritten_;
  Clock::time_point last_flush_;
};

}  // namespace lockstep::train
