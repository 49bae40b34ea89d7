#include "runtime/rng.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lockstep {

namespace {

constexpr uint32_t low(uint64_t value) {
  return static_cast<uint32_t>(value);
}
constexpr uint32_t high(uint64_t value) {
  return static_cast<uint32_t>(value >> 32);
}

constexpr int kRounds = 10;
constexpr uint64_t kMultiplier0 = 0xd2511f53;
constexpr uint64_t kMultiplier1 = 0xcd9e8d57;
constexpr uint32_t kWeyl0 = 0x9e3779b9;  // golden ratio
constexpr uint32_t kWeyl1 = 0xbb67ae85;  // sqrt(3) - 1

constexpr size_t kSideBySide = 32;
/// Word w of block i at [w][i].
using Blocks = std::array<std::array<uint32_t, kSideBySide>, 4>;

/// philox() of many counters at once, in loops of one kind each, which the compiler makes vector code of.
void philox_side_by_side(Blocks& x, std::array<uint32_t, 2> key) {
  std::array<uint64_t, kSideBySide> product0;
  std::array<uint64_t, kSideBySide> product1;
  for (int round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < kSideBySide; ++i) product0[i] = kMultiplier0 * x[0][i];
    for (size_t i = 0; i < kSideBySide; ++i) product1[i] = kMultiplier1 * x[2][i];
    for (size_t i = 0; i < kSideBySide; ++i) x[0][i] = high(product1[i]) ^ x[1][i] ^ key[0];
    for (size_t i = 0; i < kSideBySide; ++i) x[2][i] = high(product0[i]) ^ x[3][i] ^ key[1];
    for (size_t i = 0; i < kSideBySide; ++i) x[1][i] = low(product1[i]);
    for (size_t i = 0; i < kSideBySide; ++i) x[3][i] = low(product0[i]);
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
}

}  // namespace

std::array<uint32_t, 4> philox(const std::array<uint32_t, 4>& counter, const std::array<uint32_t, 2>& key) {
  auto [x0, x1, x2, x3] = counter;
  auto [key0, key1] = key;
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t product0 = kMultiplier0 * x0;
    const uint64_t product1 = kMultiplier1 * x2;
    x0 = high(product1) ^ x1 ^ key0;
    x1 = low(product1);
    x2 = high(product0) ^ x3 ^ key1;
    x3 = low(product0);
    key0 += kWeyl0;
    key1 += kWeyl1;
  }
  return {x0, x1, x2, x3};
}

RandomStream::RandomStream(uint64_t seed, Purpose purpose, uint64_t major, uint64_t minor) : minor_(minor) {
  // 64-bit seed, purpose, major, minor and position do not fit one counter and key: the first three make the
  // key.
  const auto derived =
      philox({low(major), high(major), static_cast<uint32_t>(purpose), 0}, {low(seed), high(seed)});
  key_ = {derived[0], derived[1]};
}

std::array<uint32_t, 4> RandomStream::block(uint64_t index) const {
  return philox({low(index), high(index), low(minor_), high(minor_)}, key_);
}

void RandomStream::fill(uint64_t first_block, std::span<uint32_t> words) const {
  constexpr size_t kWords = 4 * kSideBySide;
  size_t begin = 0;
  for (; words.size() - begin >= kWords; begin += kWords) {
    Blocks x;
    for (size_t i = 0; i < kSideBySide; ++i) {
      const uint64_t index = first_block + begin / 4 + i;
      x[0][i] = low(index);
      x[1][i] = high(index);
    }
    x[2].fill(low(minor_));
    x[3].fill(high(minor_));
    philox_side_by_side(x, key_);
    for (size_t i = 0; i < kSideBySide; ++i) {
      for (size_t word = 0; word < 4; ++word) words[begin + 4 * i + word] = x[word][i];
    }
  }
  for (; begin < words.size(); begin += 4) {
    const auto last = block(first_block + begin / 4);
    std::copy_n(last.begin(), std::min<size_t>(4, words.size() - begin), words.begin() + begin);
  }
}

uint32_t RandomStream::below(uint64_t position, uint32_t bound) const {
  return high(uint64_t{bits(position)} * bound);
}

double RandomStream::normal(uint64_t position) const {
  const auto words = block(position / 4);
  const uint64_t pair = position % 4 / 2 * 2;
  const double open_unit = (words[pair] + 1.0) * 0x1p-32;  // in (0, 1], so that its logarithm is finite
  const double angle = 2 * std::numbers::pi * (words[pair + 1] * 0x1p-32);
  const double radius = std::sqrt(-2 * std::log(open_unit));
  return radius * (position % 2 == 0 ? std::cos(angle) : std::sin(angle));
}

}  // namespace lockstep
