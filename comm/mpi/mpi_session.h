// MPI from start to end. main owns it and passes it down.
#pragma once

#include <cstdint>

namespace lockstep::comm {

/// What MPI allows of threads, in MPI's order. One progress lock lets one thread at a time call MPI:
/// kSerialized.
enum class MpiThreadLevel : uint8_t { kSingle, kFunneled, kSerialized, kMultiple };
const char* name_of(MpiThreadLevel level);  ///< "MPI_THREAD_SINGLE", ...

/// Throws CommError naming both levels if `provided` is below `required`.
void check_thread_level(MpiThreadLevel required, MpiThreadLevel provided);

class MpiSession {
 public:
  /// Starts MPI; if somebody else has started it, only asks for its thread level. Throws CommError when MPI
  /// does not give `required`.
  explicit MpiSession(MpiThreadLevel required = MpiThreadLevel::kSerialized);
  /// Does nothing: after an error no clean-up may enter MPI, which could block for ever. Success calls
  /// finalize().
  ~MpiSession() = default;
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }

  /// Ends MPI (unless somebody else started it): collective, after all communicators are gone and only on
  /// success.
  void finalize();

  /// Ends all ranks; they exit with `code`, 1 to 255. Any thread.
  [[noreturn]] void abort(int code) noexcept;

 private:
  bool started_here_ = false;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace lockstep::comm
