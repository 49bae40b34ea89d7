// Where the time of a run goes: spans, recorded per thread while somebody profiles. Without a recorder a span
// costs the load of a thread-local pointer and a branch. Nothing here changes what is computed.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::profile {

using Clock = std::chrono::steady_clock;

enum class Category : uint8_t {
  kStep,           ///< one optimizer step, all that it takes
  kPhase,          ///< a part of a step; phases do not overlap, except that forward holds the wait for data
  kLayer,          ///< a layer's forward
  kForward,        ///< an operation
  kBackward,       ///< an operation's gradient
  kData,           ///< preparing samples
  kCommunication,  ///< a collective, from its start to its end
  kOther
};
const char* name_of(Category category);  ///< "step", "phase", ...

/// What an operation has to do at least, whatever its kernels do.
struct Work {
  double operations = 0;  ///< multiplications and additions, of operations that multiply matrices
  double bytes = 0;       ///< every operand read once, every result written once
};

struct Event {
  Category category = Category::kOther;
  std::string name;
  std::string layer;  ///< the innermost layer that it belongs to; "": none
  Clock::time_point start;
  Clock::time_point end;
  Work work;
  bool nested = false;  ///< part of another operation, whose time and work hold this one's
};

/// What an operation leaves for its gradient's event.
struct Origin {
  std::string layer;
  std::array<double, 3> gradient_operations{};  ///< per input, of its gradient
};

class Recorder;

/// The events of one thread, or of something that is shown as if it were one.
class Lane {
 public:
  Lane(Recorder& recorder, std::string name) : recorder_(recorder), name_(std::move(name)) {}
  void add(Event event);  ///< any thread
  Recorder& recorder() const { return recorder_; }
  const std::string& name() const { return name_; }
  std::vector<Event> events() const;  ///< so far, by start; of equal starts the longest first

 private:
  Recorder& recorder_;
  std::string name_;
  mutable std::mutex mutex_;
  std::vector<Event> events_;
};

/// The events of one rank. Outlives every Scope that names it. Any thread.
class Recorder {
 public:
  Recorder() = default;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void start() { recording_.store(true, std::memory_order_relaxed); }
  void stop() { recording_.store(false, std::memory_order_relaxed); }
  bool recording() const { return recording_.load(std::memory_order_relaxed); }
  /// The lane of this name; made where there is none.
  Lane& lane(const std::string& name);
  std::vector<const Lane*> lanes() const;  ///< in the order in which they were made

 private:
  std::atomic<bool> recording_{false};
  mutable std::mutex mutex_;
  std::deque<Lane> lanes_;  // a deque keeps references valid while it grows
};

/// While it lives, spans of the calling thread go to a lane of `recorder`; null: nothing changes.
class Scope {
 public:
  Scope(Recorder* recorder, const std::string& lane);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Lane* previous_;
};

extern constinit thread_local Lane* current_lane;  ///< of the calling thread; a Scope sets it
struct OpenSpan;

/// An event from its construction to its destruction. Spans of a thread nest.
class Span {
 public:
  Span(Category category, std::string_view name) {
    if (current_lane != nullptr) [[unlikely]]
      open(category, name, nullptr);
  }
  /// Of an operation. Inside a gradient it is a part of that.
  explicit Span(const char* operation) : Span(Category::kForward, operation) {}
  /// Of the gradient of an operation; `origin` is what the operation left, null when nothing recorded it.
  Span(const char* operation, const Origin* origin) {
    if (current_lane != nullptr) [[unlikely]]
      open(Category::kBackward, operation, origin);
  }
  ~Span() {
    if (open_ != nullptr) [[unlikely]]
      close();
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

  /// For an operation that multiplies: what it takes, and what the gradient of each input takes.
  void set_operations(double forward, const std::array<double, 3>& gradients) {
    if (open_ != nullptr) [[unlikely]]
      store_operations(forward, gradients);
  }

 private:
  void open(Category category, std::string_view name, const Origin* origin);
  void close();
  void store_operations(double forward, const std::array<double, 3>& gradients);
  OpenSpan* open_ = nullptr;  // owned; null: nothing records
};

/// A layer's span, named by the path of one of its parameters: "layer1.0.conv1.weight" is of
/// "layer1.0.conv1".
inline Span layer(std::string_view parameter) {
  return {Category::kLayer, parameter.substr(0, parameter.rfind('.'))};
}

/// Whether spans of the calling thread are recorded now.
inline bool recording() {
  return current_lane != nullptr && current_lane->recorder().recording();
}
/// An event beside those of the calling thread, for the lane `lane` of its recorder; nothing records:
/// dropped.
void add_event(const std::string& lane, Event event);

// For the innermost open span of the calling thread; without one nothing happens.
/// Memory that it reads or writes; the same address counts once.
void touch(const void* memory, size_t nbytes);
void add_work(const Work& work);
/// What the gradient shall know; null when nothing records.
std::unique_ptr<Origin> origin();

}  // namespace lockstep::profile
