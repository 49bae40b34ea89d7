#include "parallel/finite.h"

#include <algorithm>
#include <atomic>
#include <bit>

#include "runtime/error.h"
#include "runtime/threads.h"

namespace lockstep::parallel {
namespace {

/// Elements that one thread looks at least: some microseconds of work.
constexpr int64_t kGrain = 1 << 16;
/// Ranks that a message names, when there are many.
constexpr size_t kNamedRanks = 4;

/// Infinities and NaN have the greatest exponents, so a maximum over the bits finds them. It is one of
/// integers, which the compiler may take in any order, so it becomes vector code.
bool all_finite(const float* values, int64_t count) {
  constexpr int32_t kMagnitude = 0x7fffffff;
  constexpr int32_t kInfinity = 0x7f800000;
  int32_t greatest = 0;
  for (int64_t i = 0; i < count; ++i) {
    greatest = std::max(greatest, std::bit_cast<int32_t>(values[i]) & kMagnitude);
  }
  return greatest < kInfinity;
}

}  // namespace

bool all_finite(std::span<const float> values) {
  std::atomic<bool> finite = true;
  parallel_for(static_cast<int64_t>(values.size()), kGrain, [&](int64_t begin, int64_t end) {
    if (!all_finite(values.data() + begin, end - begin)) finite = false;
  });
  return finite;
}

int64_t first_nonfinite(const std::vector<Parameter*>& parameters) {
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Tensor& value = parameters[i]->value;
    if (!all_finite({value.data<float>(), static_cast<size_t>(value.count())}))
      return static_cast<int64_t>(i);
  }
  return kNoTensor;
}

NonFinite find_nonfinite(comm::Communicator& communicator, int64_t mine, int64_t summed) {
  std::vector<int64_t> all(static_cast<size_t>(communicator.size()));
  communicator
      .all_gather({&mine, 1, DType::kI64}, {all.data(), communicator.size(), DType::kI64},
                  {.label = "search for what is not finite"})
      .wait();
  NonFinite found;
  found.tensor = std::min(summed, *std::ranges::min_element(all));
  if (found.tensor == kNoTensor) return found;
  for (int rank = 0; rank < communicator.size(); ++rank) {
    if (all[static_cast<size_t>(rank)] == found.tensor) found.ranks.push_back(rank);
  }
  return found;
}

std::string place_text(const NonFinite& found, int ranks) {
  const size_t count = found.ranks.size();
  if (count == 0) return "only in the sum of all ranks";
  if (count == 1) return to_text("on rank ", found.ranks.front());
  if (static_cast<int>(count) == ranks) return to_text("on all ", ranks, " ranks");
  const size_t named = count > kNamedRanks + 1 ? kNamedRanks : count - 1;
  std::string text = "on ranks ";
  for (size_t i = 0; i < named; ++i) text += to_text(i == 0 ? "" : ", ", found.ranks[i]);
  return text + (named < count - 1 ? to_text(" and ", count - named, " more")
                                   : to_text(" and ", found.ranks.back()));
}

}  // namespace lockstep::parallel
