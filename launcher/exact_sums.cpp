#include "launcher/exact_sums.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace lockstep::launcher {
namespace {

using comm::Buffer;

/// bf16 holds integers up to 256.
int most_distinct(int ranks) {
  return std::clamp(255 / ranks + 1, 2, 13);
}
int element(int rank, int64_t i, int ranks) {
  return static_cast<int>((i * 5 + rank * 3) % most_distinct(ranks));
}
int element_sum(int64_t i, int ranks) {
  int sum = 0;
  for (int rank = 0; rank < ranks; ++rank) sum += element(rank, i, ranks);
  return sum;
}

/// Elements repeat after most_distinct() of them, so a table gives all.
template <class T, class Value>
std::vector<T> period(int ranks, const Value& value) {
  std::vector<T> values;
  for (int i = 0; i < most_distinct(ranks); ++i) values.push_back(T(static_cast<float>(value(i))));
  return values;
}

}  // namespace

void fill_exact(const Buffer& buffer, int rank, int ranks) {
  visit_dtype(buffer.dtype, [&]<class T>(T) {
    const std::vector<T> values = period<T>(ranks, [&](int64_t i) { return element(rank, i, ranks); });
    T* data = static_cast<T*>(buffer.data);
    for (int64_t i = 0; i < buffer.count; ++i) data[i] = values[static_cast<size_t>(i) % values.size()];
  });
}

int64_t count_wrong_sums(const Buffer& buffer, int ranks) {
  int64_t wrong = 0;
  visit_dtype(buffer.dtype, [&]<class T>(T) {
    const std::vector<T> values = period<T>(ranks, [&](int64_t i) { return element_sum(i, ranks); });
    const T* data = static_cast<const T*>(buffer.data);
    for (int64_t i = 0; i < buffer.count; ++i) {
      const T& expected = values[static_cast<size_t>(i) % values.size()];
      if (std::memcmp(&data[i], &expected, sizeof(T)) != 0) ++wrong;
    }
  });
  return wrong;
}

}  // namespace lockstep::launcher
