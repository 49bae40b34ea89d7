#include "comm/local/local_group.h"

#include <atomic>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>

#include "runtime/error.h"

namespace lockstep::comm {
namespace {

struct Outgoing {
  int sender;
  int tag;
  const void* data;
  size_t nbytes;
  int token;
};

struct Incoming {
  int sender;
  int tag;
  void* data;
  size_t nbytes;
  int token;
};

/// What belongs to one rank. Data is copied under the lock of the receiver's mailbox, by whoever comes
/// second.
struct Mailbox {
  std::mutex mutex;
  std::deque<Outgoing> arrived;  // sends to this rank that it does not receive yet
  std::deque<Incoming> posted;   // receives of this rank that nobody has sent yet
  std::vector<int> finished;     // tokens for this rank's next poll
};

/// A group and all that were split off it fail together.
struct Family {
  std::atomic<bool> aborted{false};
  std::mutex mutex;
  std::string reason;
  std::vector<std::weak_ptr<LocalState>> groups;
};

template <class Queue>
auto find_match(Queue& queue, int sender, int tag) {
  auto it = queue.begin();
  while (it != queue.end() && (it->sender != sender || it->tag != tag)) ++it;
  return it;
}

void deliver(const Outgoing& message, const Incoming& receive) {
  check<CommError>(message.nbytes == receive.nbytes, "transport", "rank ", message.sender, " sent ",
                   message.nbytes, " bytes where ", receive.nbytes, " were expected");
  if (message.nbytes > 0) std::memcpy(receive.data, message.data, message.nbytes);
}

}  // namespace

struct LocalState {
  LocalState(int ranks, std::shared_ptr<Family> shared) : mailboxes(ranks), family(std::move(shared)) {}

  struct Child {
    std::shared_ptr<LocalState> state;
    size_t to_join;
  };

  std::deque<Mailbox> mailboxes;
  std::shared_ptr<Family> family;
  std::mutex split_mutex;
  std::map<std::pair<int, int>, Child>
      children;  // by (number of the split, colour), until all members have joined
};

namespace {

std::shared_ptr<LocalState> make_state(int size, std::shared_ptr<Family> family) {
  auto state = std::make_shared<LocalState>(size, family);
  const std::lock_guard guard(family->mutex);
  family->groups.push_back(state);
  return state;
}

void abort_family(Family& family, const std::string& reason) {
  std::vector<std::weak_ptr<LocalState>> groups;
  {
    const std::lock_guard guard(family.mutex);
    if (!family.aborted) family.reason = reason;
    family.aborted = true;
    groups = family.groups;
  }
  // A copy that began before is over once its mailbox could be locked; after that no memory is touched any
  // more.
  for (const std::weak_ptr<LocalState>& group : groups) {
    const std::shared_ptr<LocalState> state = group.lock();
    if (!state) continue;
    for (Mailbox& box : state->mailboxes) const std::lock_guard guard(box.mutex);
  }
}

void throw_if_aborted(Family& family) {
  if (!family.aborted) return;
  const std::lock_guard guard(family.mutex);
  throw CommError(family.reason);
}

class LocalTransport final : public Transport {
 public:
  LocalTransport(std::shared_ptr<LocalState> state, int rank)
      : Transport(rank, static_cast<int>(state->mailboxes.size())), state_(std::move(state)) {}

  /// Takes back what is left, so that nobody touches this rank's memory later.
  ~LocalTransport() override {
    for (Mailbox& box : state_->mailboxes) {
      const std::lock_guard guard(box.mutex);
      std::erase_if(box.arrived, [&](const Outgoing& message) { return message.sender == rank(); });
    }
    Mailbox& mine = state_->mailboxes[rank()];
    const std::lock_guard guard(mine.mutex);
    mine.posted.clear();
  }

  void send(int peer, int tag, const void* data, size_t nbytes, int token) override {
    const Outgoing message{rank(), tag, data, nbytes, token};
    Mailbox& box = state_->mailboxes[peer];
    {
      const std::lock_guard guard(box.mutex);
      throw_if_aborted(*state_->family);
      const auto match = find_match(box.posted, rank(), tag);
      if (match == box.posted.end()) {
        box.arrived.push_back(message);
        return;
      }
      deliver(message, *match);
      box.finished.push_back(match->token);
      box.posted.erase(match);
    }
    finish(rank(), token);
  }

  void receive(int peer, int tag, void* data, size_t nbytes, int token) override {
    const Incoming receive{peer, tag, data, nbytes, token};
    Mailbox& box = state_->mailboxes[rank()];
    int sent_token = 0;
    {
      const std::lock_guard guard(box.mutex);
      throw_if_aborted(*state_->family);
      const auto match = find_match(box.arrived, peer, tag);
      if (match == box.arrived.end()) {
        box.posted.push_back(receive);
        return;
      }
      deliver(*match, receive);
      sent_token = match->token;
      box.arrived.erase(match);
      box.finished.push_back(token);
    }
    finish(peer, sent_token);
  }

  void poll(std::vector<int>& finished) override {
    throw_if_aborted(*state_->family);
    Mailbox& box = state_->mailboxes[rank()];
    const std::lock_guard guard(box.mutex);
    finished.insert(finished.end(), box.finished.begin(), box.finished.end());
    box.finished.clear();
  }

  std::unique_ptr<Transport> split(int color, const std::vector<int>& members) override {
    const int number = splits_++;
    if (members.empty()) return nullptr;
    const std::lock_guard guard(state_->split_mutex);
    const std::pair<int, int> key{number, color};
    auto child = state_->children.find(key);
    if (child == state_->children.end()) {
      auto state = make_state(static_cast<int>(members.size()), state_->family);
      child = state_->children.emplace(key, LocalState::Child{std::move(state), members.size()}).first;
    }
    const std::shared_ptr<LocalState> state = child->second.state;
    if (--child->second.to_join == 0) state_->children.erase(child);
    for (int index = 0; index < static_cast<int>(members.size()); ++index) {
      if (members[index] == rank()) return std::make_unique<LocalTransport>(state, index);
    }
    throw InvalidArgument("[split] this rank is not one of the members");
  }

  void abort(const std::string& reason) noexcept override { abort_family(*state_->family, reason); }

 private:
  void finish(int rank, int token) {
    Mailbox& box = state_->mailboxes[rank];
    const std::lock_guard guard(box.mutex);
    box.finished.push_back(token);
  }

  std::shared_ptr<LocalState> state_;
  int splits_ = 0;
};

}  // namespace

LocalGroup::LocalGroup(int size) {
  check(size > 0, "local group", "expected at least one rank, got ", size);
  state_ = make_state(size, std::make_shared<Family>());
}

LocalGroup::~LocalGroup() = default;

int LocalGroup::size() const {
  return static_cast<int>(state_->mailboxes.size());
}

std::unique_ptr<Transport> LocalGroup::transport(int rank) {
  check(0 <= rank && rank < size(), "local group", "rank ", rank, " is not one of ", size());
  return std::make_unique<LocalTransport>(state_, rank);
}

void LocalGroup::abort(int rank, const std::string& reason) noexcept {
  abort_family(*state_->family, to_text("rank ", rank, " failed: ", reason));
}

}  // namespace lockstep::comm
