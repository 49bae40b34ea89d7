#include "runtime/profile.h"

#include <algorithm>
#include <utility>

namespace lockstep::profile {

/// Open spans are a list, from the innermost outwards.
struct OpenSpan {
  Event event;
  Lane* lane = nullptr;
  OpenSpan* outer = nullptr;
  std::array<double, 3> gradient_operations{};
  std::vector<const void*> touched;
};

constinit thread_local Lane* current_lane = nullptr;

namespace {

thread_local OpenSpan* innermost = nullptr;

bool is_operation(const OpenSpan& span) {
  return span.event.category == Category::kForward || span.event.category == Category::kBackward;
}

}  // namespace

const char* name_of(Category category) {
  switch (category) {
    case Category::kStep:
      return "step";
    case Category::kPhase:
      return "phase";
    case Category::kLayer:
      return "layer";
    case Category::kForward:
      return "forward";
    case Category::kBackward:
      return "backward";
    case Category::kData:
      return "data";
    case Category::kCommunication:
      return "communication";
    case Category::kOther:
      break;
  }
  return "other";
}

void Lane::add(Event event) {
  const std::lock_guard lock(mutex_);
  events_.push_back(std::move(event));
}

std::vector<Event> Lane::events() const {
  std::vector<Event> sorted;
  {
    const std::lock_guard lock(mutex_);
    sorted = events_;
  }
  // A span is added at its end, so of two with the same bounds the later one is the outer one.
  std::reverse(sorted.begin(), sorted.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const Event& a, const Event& b) {
    return a.start != b.start ? a.start < b.start : a.end > b.end;
  });
  return sorted;
}

Lane& Recorder::lane(const std::string& name) {
  const std::lock_guard lock(mutex_);
  for (Lane& lane : lanes_) {
    if (lane.name() == name) return lane;
  }
  return lanes_.emplace_back(*this, name);
}

std::vector<const Lane*> Recorder::lanes() const {
  const std::lock_guard lock(mutex_);
  std::vector<const Lane*> found;
  for (const Lane& lane : lanes_) found.push_back(&lane);
  return found;
}

Scope::Scope(Recorder* recorder, const std::string& lane) : previous_(current_lane) {
  if (recorder != nullptr) current_lane = &recorder->lane(lane);
}

Scope::~Scope() {
  current_lane = previous_;
}

void Span::open(Category category, std::string_view name, const Origin* origin) {
  if (!recording()) return;
  open_ = new OpenSpan;
  open_->lane = current_lane;
  open_->outer = std::exchange(innermost, open_);
  Event& event = open_->event;
  event.category = category;
  event.name = name;
  if (category == Category::kLayer) {
    event.layer = name;
  } else if (origin != nullptr) {
    event.layer = origin->layer;
  } else if (open_->outer != nullptr) {
    event.layer = open_->outer->event.layer;
  }
  event.nested = open_->outer != nullptr && (is_operation(*open_->outer) || open_->outer->event.nested);
  event.start = Clock::now();
}

void Span::close() {
  const std::unique_ptr<OpenSpan> span(open_);
  span->event.end = Clock::now();
  innermost = span->outer;
  // The parts' bytes are those of temporary results: a floor does not hold them.
  if (span->event.nested) span->outer->event.work.operations += span->event.work.operations;
  span->lane->add(std::move(span->event));
}

void Span::store_operations(double forward, const std::array<double, 3>& gradients) {
  open_->event.work.operations = forward;
  open_->gradient_operations = gradients;
}

void add_event(const std::string& lane, Event event) {
  if (!recording()) return;
  current_lane->recorder().lane(lane).add(std::move(event));
}

void touch(const void* memory, size_t nbytes) {
  if (innermost == nullptr) return;
  std::vector<const void*>& touched = innermost->touched;
  if (std::find(touched.begin(), touched.end(), memory) != touched.end()) return;
  touched.push_back(memory);
  innermost->event.work.bytes += static_cast<double>(nbytes);
}

void add_work(const Work& work) {
  if (innermost == nullptr) return;
  innermost->event.work.operations += work.operations;
  innermost->event.work.bytes += work.bytes;
}

std::unique_ptr<Origin> origin() {
  if (innermost == nullptr) return nullptr;
  return std::make_unique<Origin>(Origin{innermost->event.layer, innermost->gradient_operations});
}

}  // namespace lockstep::profile
