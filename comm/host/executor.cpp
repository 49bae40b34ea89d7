#include "comm/host/executor.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <set>

#include "comm/codecs/rounding.h"
#include "comm/codecs/table.h"
#include "comm/reduce_kernels.h"
#include "runtime/error.h"

namespace lockstep::comm {
namespace {

/// What this thread computes in one round: more would leave finished transfers unnoticed for too long.
constexpr int kLocalStepsPerRound = 2;

/// In Executor::parts_, where 0 means not started.
constexpr int kFinished = -1;

bool is_incoming(StepKind kind) {
  return kind == StepKind::kReceive || kind == StepKind::kDiscover || kind == StepKind::kAwait;
}

bool is_local(StepKind kind) {
  return kind == StepKind::kReduce || kind == StepKind::kCopy;
}

}  // namespace

Executor::Executor(Transport& transport, SharedMemory& shared, size_t max_message_bytes)
    : transport_(transport),
      shared_(shared),
      max_message_bytes_(max_message_bytes),
      peers_(static_cast<size_t>(transport.size())) {}

void Executor::start(const Plan& plan, const Call& call, int tag_base) {
  plan_ = &plan;
  call_ = &call;
  tag_base_ = tag_base;
  codec_ = find_codec(call.options.codec);
  unit_ = codec_ ? codec_->block_count : 1;
  element_size_ = size_of(call.dtype);
  unfinished_ = plan.steps.size();
  waits_ = plan.dependency_counts;
  parts_.assign(plan.steps.size(), 0);
  if (codec_) staged_.assign(plan.steps.size(), 0);
  const size_t scratch_bytes = static_cast<size_t>(plan.scratch_count * unit_) * element_size_;
  if (scratch_bytes > 0 && (!scratch_ || scratch_->nbytes() < scratch_bytes)) {
    scratch_.reset();
    scratch_ = Storage::allocate(scratch_bytes, kCpu);
    std::memset(scratch_->data(), 0, scratch_bytes);
  }
  if (plan.reaches_peers) own_places_ = own_places();
  for (StepId id = 0; id < static_cast<StepId>(plan.steps.size()); ++id) {
    if (waits_[id] == 0) make_ready(id);
  }
}

bool Executor::advance() {
  bool progressed = !ready_transfers_.empty();
  const auto start_ready_transfers = [&] {
    // Starting one never finishes another, so the list does not grow meanwhile.
    for (const StepId id : ready_transfers_) start_transfer(id);
    ready_transfers_.clear();
  };
  start_ready_transfers();

  finished_tokens_.clear();
  transport_.poll(finished_tokens_);
  for (const int token : finished_tokens_) finish_part(token);
  progressed |= !finished_tokens_.empty();

  for (int i = 0; i < kLocalStepsPerRound && next_local_ < ready_local_.size(); ++i) {
    start_ready_transfers();  // first, so that they move while this thread computes
    run_local(ready_local_[next_local_++]);
    progressed = true;
  }
  start_ready_transfers();
  if (next_local_ == ready_local_.size()) {
    ready_local_.clear();
    next_local_ = 0;
  }
  return progressed;
}

std::vector<int> Executor::missing_peers() const {
  std::set<int> heard;
  std::set<int> receiving;
  std::set<int> sending;
  for (size_t id = 0; id < parts_.size(); ++id) {
    const Step& step = plan_->steps[id];
    if (is_incoming(step.kind) && parts_[id] == kFinished) heard.insert(step.peer);
    if (parts_[id] > 0) (is_incoming(step.kind) ? receiving : sending).insert(step.peer);
  }
  std::vector<int> silent;
  std::set_difference(receiving.begin(), receiving.end(), heard.begin(), heard.end(),
                      std::back_inserter(silent));
  if (!silent.empty()) return silent;
  const std::set<int>& missing = receiving.empty() ? sending : receiving;
  return {missing.begin(), missing.end()};
}

std::byte* Executor::address(const Region& region) const {
  const size_t offset = static_cast<size_t>(region.begin * unit_) * element_size_;
  if (region.peer != kSelf) {
    const std::vector<std::byte*>& theirs = peers_[static_cast<size_t>(region.peer)].addresses;
    return (region.buffer == kResult ? theirs.back() : theirs[static_cast<size_t>(region.buffer)]) + offset;
  }
  void* base = nullptr;
  switch (region.buffer) {
    case kResult:
      base = call_->result.data;
      break;
    case kScratch:
      base = scratch_->data();
      break;
    default:
      base = call_->operands[region.buffer].data;
  }
  return static_cast<std::byte*>(base) + offset;
}

int64_t Executor::elements(const Region& region) const {
  const int64_t whole = region.count * unit_;
  const bool may_end_early = codec_ && region.buffer != kScratch;
  return may_end_early ? std::min(whole, call_->count - region.begin * unit_) : whole;
}

size_t Executor::nbytes(const Region& region) const {
  return static_cast<size_t>(elements(region)) * element_size_;
}

std::vector<SharedPlace> Executor::own_places() const {
  std::vector<SharedPlace> places;
  const auto add = [&](const Buffer& buffer) {
    const std::optional<SharedPlace> place = shared_.find(buffer.data, buffer.nbytes());
    ensure(place.has_value(), "executor", "a plan for shared memory got a buffer in other memory");
    places.push_back(*place);
  };
  for (const Buffer& operand : call_->operands) add(operand);
  add(call_->result);
  return places;
}

void Executor::make_ready(StepId id) {
  const StepKind kind = plan_->steps[id].kind;
  const bool first_local = is_local(kind) || (codec_ && kind == StepKind::kSend);
  (first_local ? ready_local_ : ready_transfers_).push_back(id);
}

std::span<std::byte> Executor::message_of(StepId id) {
  const Step& step = plan_->steps[id];
  switch (step.kind) {
    case StepKind::kPublish:
      return std::as_writable_bytes(std::span(own_places_));
    case StepKind::kDiscover: {
      std::vector<SharedPlace>& theirs = peers_[static_cast<size_t>(step.peer)].places;
      theirs.resize(static_cast<size_t>(step.target.count));
      return std::as_writable_bytes(std::span(theirs));
    }
    case StepKind::kSignal:
    case StepKind::kAwait:
      return {};
    default:
      return codec_ ? staged(id) : std::span(address(step.left), nbytes(step.left));
  }
}

std::span<std::byte> Executor::staged(StepId id) {
  const auto blocks = static_cast<size_t>(plan_->steps[id].left.count);
  return {staging_.data(staged_[id]), blocks * codec_->block_bytes};
}

void Executor::start_transfer(StepId id) {
  const Step& step = plan_->steps[id];
  if (codec_ && step.kind == StepKind::kReceive) {
    staged_[id] = staging_.take(static_cast<size_t>(step.left.count) * codec_->block_bytes);
  }
  const std::span<std::byte> message = message_of(id);
  const size_t parts = std::max<size_t>(1, (message.size() + max_message_bytes_ - 1) / max_message_bytes_);
  parts_[id] = static_cast<int>(parts);
  for (size_t p = 0; p < parts; ++p) {
    const size_t begin = p * max_message_bytes_;
    const std::span<std::byte> part =
        message.subspan(begin, std::min(max_message_bytes_, message.size() - begin));
    if (is_incoming(step.kind)) {
      transport_.receive(step.peer, tag_base_ + step.tag, part.data(), part.size(), id);
    } else {
      transport_.send(step.peer, tag_base_ + step.tag, part.data(), part.size(), id);
      traffic_.bytes += part.size();
      ++traffic_.messages;
    }
  }
}

void Executor::run_local(StepId id) {
  const Step& step = plan_->steps[id];
  switch (step.kind) {
    case StepKind::kSend:
      staged_[id] = staging_.take(static_cast<size_t>(step.left.count) * codec_->block_bytes);
      codec_->encode(reinterpret_cast<const float*>(address(step.left)), elements(step.left),
                     staged(id).data());
      return start_transfer(id);
    case StepKind::kReceive:
      codec_->decode(staged(id).data(), elements(step.target),
                     reinterpret_cast<float*>(address(step.target)));
      staging_.give_back(staged_[id]);
      break;
    case StepKind::kReduce:
      reduce_regions(step);
      break;
    default:
      copy_region(step);
  }
  finish(id);
}

void Executor::reduce_regions(const Step& step) {
  const int64_t count = std::min({elements(step.left), elements(step.right), elements(step.target)});
  if (codec_) {
    sum_rounded(*codec_, count, reinterpret_cast<const float*>(address(step.left)),
                reinterpret_cast<const float*>(address(step.right)),
                reinterpret_cast<float*>(address(step.target)));
    fill_up(step.target, count);
  } else {
    reduce(call_->op, call_->dtype, count, address(step.left), address(step.right), address(step.target));
  }
}

void Executor::copy_region(const Step& step) {
  if (address(step.left) == address(step.target)) return;
  const int64_t count = std::min(elements(step.left), elements(step.target));
  std::memcpy(address(step.target), address(step.left), static_cast<size_t>(count) * element_size_);
  fill_up(step.target, count);
}

/// What lies in scratch memory behind the end of the call's buffers would change the exponent of the block.
void Executor::fill_up(const Region& target, int64_t count) {
  std::byte* end = address(target) + static_cast<size_t>(count) * element_size_;
  std::memset(end, 0, nbytes(target) - static_cast<size_t>(count) * element_size_);
}

void Executor::finish_part(StepId id) {
  if (--parts_[id] > 0) return;
  const Step& step = plan_->steps[id];
  if (codec_ && step.kind == StepKind::kReceive) {
    ready_local_.push_back(id);
    parts_[id] = kFinished;  // the peer is heard
    return;
  }
  if (codec_ && step.kind == StepKind::kSend) staging_.give_back(staged_[id]);
  if (step.kind == StepKind::kDiscover) reach(peers_[static_cast<size_t>(step.peer)]);
  finish(id);
}

void Executor::reach(PeerMemory& peer) {
  peer.addresses.clear();
  for (const SharedPlace& place : peer.places) peer.addresses.push_back(shared_.reach(place));
}

void Executor::finish(StepId id) {
  --unfinished_;
  parts_[id] = kFinished;
  for (int i = plan_->successor_offsets[id]; i < plan_->successor_offsets[id + 1]; ++i) {
    const StepId successor = plan_->successors[i];
    if (--waits_[successor] == 0) make_ready(successor);
  }
}

}  // namespace lockstep::comm
