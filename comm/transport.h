// Bytes between two ranks. An algorithm decides who sends what; a transport only moves it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace lockstep::comm {

/// Messages match by (sender, receiver, tag), in the order in which either side started them. No call blocks.
/// One thread at a time may use the transports of a rank (a transport and all that were split off it);
/// abort() is free.
class Transport {
 public:
  /// Tags lie in [0, kTagEnd): as many as Open MPI allows over UCX, the fewest of its point-to-point layers.
  static constexpr int kTagEnd = 1 << 23;

  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }

  /// Start a transfer of exactly `nbytes`, which both sides must agree on. The memory belongs to the
  /// transport until poll() has given back `token`.
  virtual void send(int peer, int tag, const void* data, size_t nbytes, int token) = 0;
  virtual void receive(int peer, int tag, void* data, size_t nbytes, int token) = 0;

  /// Appends the tokens of transfers that finished. Throws CommError when one failed or the ranks were
  /// aborted.
  virtual void poll(std::vector<int>& finished) = 0;

  /// The transport among `members` (ranks of this one, this rank among them; empty: none, null is returned).
  /// Every rank calls it, at about the same time; members name the same colour.
  virtual std::unique_ptr<Transport> split(int color, const std::vector<int>& members) = 0;

  /// Gives up, for `reason`: this rank's transfers are abandoned and their memory is no longer touched, and
  /// peers in the same process get a CommError that names the first reason given, as does every later send(),
  /// receive() and poll(). Any thread.
  virtual void abort(const std::string& reason) noexcept = 0;

 protected:
  Transport(int rank, int size) : rank_(rank), size_(size) {}

 private:
  int rank_;
  int size_;
};

}  // namespace lockstep::comm
