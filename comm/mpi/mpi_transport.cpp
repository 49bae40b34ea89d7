#include "comm/mpi/mpi_transport.h"

#include <mpi.h>

#include <atomic>
#include <climits>
#include <exception>
#include <mutex>

#include "comm/host/backoff.h"
#include "comm/mpi/mpi_error.h"
#include "runtime/error.h"

namespace lockstep::comm {
namespace {

/// Shared by the transports of this rank, which fail together.
struct Failure {
  std::atomic<bool> happened{false};
  std::mutex mutex;
  std::string reason;
};

class MpiTransport final : public Transport {
 public:
  /// Takes over `communicator`.
  MpiTransport(MPI_Comm communicator, int rank, int size, std::shared_ptr<Failure> failure)
      : Transport(rank, size), communicator_(communicator), failure_(std::move(failure)) {
    check_mpi(MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  }

  ~MpiTransport() override {
    // After an error nothing may enter MPI. The communicator is left to the end of the process then.
    if (failure_->happened || !requests_.empty() || std::uncaught_exceptions() > 0) return;
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (!finalized) MPI_Comm_free(&communicator_);
  }

  void send(int peer, int tag, const void* data, size_t nbytes, int token) override {
    throw_if_failed();
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Isend(data, checked_count(nbytes), MPI_BYTE, peer, tag, communicator_, &request),
              "MPI_Isend");
    add(request, {token, -1, peer});
  }

  void receive(int peer, int tag, void* data, size_t nbytes, int token) override {
    throw_if_failed();
    MPI_Request request = MPI_REQUEST_NULL;
    const int count = checked_count(nbytes);
    check_mpi(MPI_Irecv(data, count, MPI_BYTE, peer, tag, communicator_, &request), "MPI_Irecv");
    add(request, {token, count, peer});
  }

  void poll(std::vector<int>& finished) override {
    throw_if_failed();
    if (requests_.empty()) return;
    const int pending = static_cast<int>(requests_.size());
    int completed = 0;
    const int code = MPI_Testsome(pending, requests_.data(), &completed, completed_.data(), statuses_.data());
    if (code == MPI_ERR_IN_STATUS) {
      for (int i = 0; i < completed; ++i) check_mpi(statuses_[i].MPI_ERROR, "MPI_Testsome");
    }
    check_mpi(code, "MPI_Testsome");
    if (completed == 0 || completed == MPI_UNDEFINED) return;
    for (int i = 0; i < completed; ++i) {
      const Transfer& transfer = transfers_[completed_[i]];
      if (transfer.expected_count >= 0) check_received(transfer, statuses_[i]);
      finished.push_back(transfer.token);
    }
    remove_completed();
  }

  std::unique_ptr<Transport> split(int color, const std::vector<int>& members) override {
    throw_if_failed();
    MPI_Comm part = MPI_COMM_NULL;
    int key = 0;
    while (key < static_cast<int>(members.size()) && members[key] != rank()) ++key;
    check_mpi(MPI_Comm_split(communicator_, members.empty() ? MPI_UNDEFINED : color, key, &part),
              "MPI_Comm_split");
    if (part == MPI_COMM_NULL) return nullptr;
    return std::make_unique<MpiTransport>(part, key, static_cast<int>(members.size()), failure_);
  }

  void abort(const std::string& reason) noexcept override {
    const std::lock_guard guard(failure_->mutex);
    if (!failure_->happened) failure_->reason = reason;
    failure_->happened = true;
  }

 private:
  struct Transfer {
    int token;
    int expected_count;  // bytes to receive; -1 for a send
    int peer;
  };

  static int checked_count(size_t nbytes) {
    ensure(nbytes <= INT_MAX, "MPI transport", "a message of ", nbytes, " bytes");
    return static_cast<int>(nbytes);
  }

  void check_received(const Transfer& transfer, const MPI_Status& status) const {
    int count = 0;
    check_mpi(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
    check<CommError>(count == transfer.expected_count, "transport", "rank ", transfer.peer, " sent ", count,
                     " bytes where ", transfer.expected_count, " were expected");
  }

  void throw_if_failed() const {
    if (!failure_->happened) return;
    const std::lock_guard guard(failure_->mutex);
    throw CommError(failure_->reason);
  }

  void add(MPI_Request request, const Transfer& transfer) {
    requests_.push_back(request);
    transfers_.push_back(transfer);
    completed_.resize(requests_.size());
    statuses_.resize(requests_.size());
  }

  void remove_completed() {
    size_t kept = 0;
    for (size_t i = 0; i < requests_.size(); ++i) {
      if (requests_[i] == MPI_REQUEST_NULL) continue;
      requests_[kept] = requests_[i];
      transfers_[kept] = transfers_[i];
      ++kept;
    }
    requests_.resize(kept);
    transfers_.resize(kept);
  }

  MPI_Comm communicator_;
  std::shared_ptr<Failure> failure_;
  std::vector<MPI_Request> requests_;  // in flight; transfers_[i] describes requests_[i]
  std::vector<Transfer> transfers_;
  std::vector<int> completed_;  // output of MPI_Testsome, at least as long as requests_
  std::vector<MPI_Status> statuses_;
};

void check_tag_bound() {
  void* value = nullptr;
  int found = 0;
  check_mpi(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found), "MPI_Comm_get_attr");
  const int bound = found ? *static_cast<int*>(value) : 0;
  check<CommError>(bound >= Transport::kTagEnd - 1, "MPI transport",
                   "this MPI has too few message tags: expected tags up to ", Transport::kTagEnd - 1,
                   ", got MPI_TAG_UB ", bound);
}

/// MPI_Comm_dup without its unlimited wait for late ranks.
MPI_Comm duplicate_world(std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  MPI_Comm communicator = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Comm_idup(MPI_COMM_WORLD, &communicator, &request), "MPI_Comm_idup");
  Backoff backoff(0);  // a late rank may need a core that this one would keep busy
  for (;;) {
    int done = 0;
    check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done) return communicator;
    check<CommError>(std::chrono::steady_clock::now() < deadline, "MPI_Comm_idup",
                     "not all ranks have come within ", std::chrono::duration<double>(timeout).count(),
                     " s of start-up: one did not start, or MPI took an address at which its host cannot be "
                     "reached (Open MPI takes those of every interface unless it is told one: --mca "
                     "btl_tcp_if_include 192.168.1.0/24)");
    backoff.pause();
  }
}

}  // namespace

std::unique_ptr<Transport> make_mpi_transport(const MpiSession& session, std::chrono::milliseconds timeout) {
  check_tag_bound();
  return std::make_unique<MpiTransport>(duplicate_world(timeout), session.rank(), session.size(),
                                        std::make_shared<Failure>());
}

}  // namespace lockstep::comm
