#include "train/event_file.h"

#include <fcntl.h>
#include <isa-l/crc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "runtime/log.h"

namespace lockstep::train {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "events.out.tfevents.";

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0' ? name.data() : "localhost";
}

/// Now, or later than every file in the folder.
int64_t seconds_for_name(const std::string& folder) {
  auto seconds = static_cast<int64_t>(seconds_since_1970());
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind(kPrefix, 0) != 0) continue;
    seconds = std::max<int64_t>(seconds, std::strtoll(name.c_str() + kPrefix.size(), nullptr, 10) + 1);
  }
  return seconds;
}

std::string new_path(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw FileError("make the folder", folder, error.value());
  std::array<char, 32> digits{};
  std::snprintf(digits.data(), digits.size(), "%010lld", static_cast<long long>(seconds_for_name(folder)));
  return to_text(folder, '/', kPrefix, digits.data(), '.', host_name(), '.', ::getpid(), ".0");
}

template <class T>
void append_number(std::string& bytes, T number) {
  static_assert(std::endian::native == std::endian::little);
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

}  // namespace

uint32_t masked_crc32c(std::string_view bytes) {
  // The library wants the buffer writable, only reads it, and leaves both inversions to its caller.
  auto* const data = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
  const uint32_t crc = ~crc32_iscsi(data, static_cast<int>(bytes.size()), ~0U);
  return std::rotr(crc, 15) + 0xa282ead8U;
}

std::string event_record(const tensorboard::Event& event) {
  const std::string data = event.SerializeAsString();
  std::string record;
  append_number(record, static_cast<uint64_t>(data.size()));
  append_number(record, masked_crc32c(record));
  record += data;
  append_number(record, masked_crc32c(data));
  return record;
}

EventFile::EventFile(const std::string& folder, int64_t first_step)
    : file_(new_path(folder), O_WRONLY | O_CREAT | O_EXCL | O_APPEND) {
  tensorboard::Event version;
  version.set_file_version("brain.Event:2");
  append(version);
  tensorboard::Event start;
  start.set_step(first_step);
  start.mutable_session_log()->set_status(tensorboard::SessionLog::START);
  append(start);
  flush();
}

EventFile::~EventFile() {
  try {
    flush();
  } catch (const std::exception& error) {
    log::warning(error.what());
  }
}

void EventFile::write(int64_t step, const std::vector<Scalar>& scalars) {
  tensorboard::Event event;
  event.set_step(step);
  for (const Scalar& scalar : scalars) {
    tensorboard::Summary::Value& value = *event.mutable_summary()->add_value();
    value.set_tag(scalar.tag);
    value.set_simple_value(static_cast<float>(scalar.value));
  }
  append(event);
  if (Clock::now() - last_flush_ >= kFlushInterval) flush();
}

void EventFile::append(tensorboard::Event& event) {
  event.set_wall_time(seconds_since_1970());
  unwritten_ += event_record(event);
}

void EventFile::flush() {
  for (size_t done = 0; done < unwritten_.size();) {
    const ssize_t written = ::write(file_.get(), unwritten_.data() + done, unwritten_.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw FileError("write", file_.path(), errno);
    done += static_cast<size_t>(written);
  }
  unwritten_.clear();
  last_flush_ = Clock::now();
}

}  // namespace lockstep::train
