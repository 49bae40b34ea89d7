// The debug check that all ranks make the same calls.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/call.h"
#include "comm/transport.h"

namespace lockstep::comm {

/// Tells the next rank of a ring what this rank calls and compares it with what the previous one calls. Each
/// link of the ring is compared, so if any two ranks differ, some rank notices.
class CallCheck {
 public:
  explicit CallCheck(Transport& transport) : transport_(transport) {}

  void start(const Call& call);
  /// True once the previous rank's call is known and equal. Throws CommError naming both ranks and calls when
  /// not.
  bool advance();
  std::vector<int> missing_peers() const;

 private:
  /// What travels; plain, of fixed size.
  struct Description {
    uint64_t sequence = 0;
    int64_t count = 0;
    int32_t root = 0;
    int32_t leaves = 0;
    Collective kind = Collective::kBarrier;
    ReduceOp op = ReduceOp::kSum;
    DType dtype = DType::kU8;
    Codec codec = Codec::kNone;
    bool shared = false;
    char text[161] = {};  ///< describe(call), cut
  };
  static const char* first_difference(const Description& a, const Description& b);
  int previous() const { return (transport_.rank() + transport_.size() - 1) % transport_.size(); }
  int next() const { return (transport_.rank() + 1) % transport_.size(); }

  Transport& transport_;
  Description mine_;
  Description theirs_;
  bool sent_ = true;
  bool received_ = true;
  std::vector<int> finished_;
};

}  // namespace lockstep::comm
