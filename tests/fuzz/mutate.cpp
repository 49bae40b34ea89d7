#include "tests/fuzz/mutate.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>

namespace lockstep::fuzz {
namespace {

constexpr std::array<uint64_t, 16> kNumbers{0,
                                            1,
                                            2,
                                            7,
                                            0x7f,
                                            0x80,
                                            0xff,
                                            0x100,
                                            0x7fff,
                                            0x8000,
                                            0xffff,
                                            0x10000,
                                            0x7fffffff,
                                            0x80000000,
                                            std::numeric_limits<int64_t>::max(),
                                            std::numeric_limits<uint64_t>::max()};
constexpr std::array<size_t, 4> kWidths{1, 2, 4, 8};
constexpr std::array kDecimals{"0",
                               "1",
                               "-1",
                               "255",
                               "1.5",
                               "1e999",
                               "-1e999",
                               "1e-999",
                               "65536",
                               "2147483647",
                               "2147483648",
                               "4294967296",
                               "nan",
                               "inf",
                               "07777",
                               "0x10",
                               "000000",
                               "77777777777",
                               "9223372036854775807",
                               "9223372036854775808",
                               "-9223372036854775808",
                               "18446744073709551615",
                               "18446744073709551616",
                               "1e18"};

bool is_digit(char letter) {
  return std::isdigit(static_cast<unsigned char>(letter)) != 0;
}

/// A part of a text.
struct Block {
  size_t begin;
  size_t length;
};

/// Short ones more often than long ones.
Block choose_block(const Bytes& bytes, Draws& draws) {
  const size_t begin = draws.below(bytes.size());
  const size_t most = draws.one_in(4) ? bytes.size() : 16;
  return {begin, std::min(bytes.size() - begin, 1 + draws.below(most))};
}

void flip_bit(Bytes& bytes, Draws& draws) {
  if (!bytes.empty()) bytes[draws.below(bytes.size())] ^= static_cast<char>(1 << draws.below(8));
}

void set_byte(Bytes& bytes, Draws& draws) {
  if (!bytes.empty()) bytes[draws.below(bytes.size())] = draws.byte();
}

void set_number(Bytes& bytes, Draws& draws) {
  const size_t width = draws.pick(kWidths);
  const uint64_t number = draws.one_in(3) ? draws.below(bytes.size() + 1) : draws.pick(kNumbers);
  const Bytes code = draws.one_in(2) ? big_endian(number, width) : little_endian(number, width);
  const size_t place = draws.below(bytes.size());
  bytes.replace(place, std::min(width, bytes.size() - place), code);
}

/// In the place of a number written in digits.
void set_decimal(Bytes& bytes, Draws& draws) {
  const auto from = bytes.begin() + static_cast<ptrdiff_t>(draws.below(bytes.size()));
  const auto begin = std::find_if(from, bytes.end(), is_digit);
  const auto end = std::find_if_not(begin, bytes.end(), is_digit);
  if (begin != end) bytes.replace(begin, end, draws.pick(kDecimals));
}

void erase(Bytes& bytes, Draws& draws) {
  const Block block = choose_block(bytes, draws);
  bytes.erase(block.begin, block.length);
}

void repeat(Bytes& bytes, Draws& draws) {
  const Block block = choose_block(bytes, draws);
  bytes.insert(draws.below(bytes.size() + 1), bytes.substr(block.begin, block.length));
}

void overwrite(Bytes& bytes, Draws& draws) {
  const Block block = choose_block(bytes, draws);
  bytes.replace(draws.below(bytes.size()), block.length, bytes.substr(block.begin, block.length));
}

void insert_bytes(Bytes& bytes, Draws& draws) {
  Bytes inserted;
  for (size_t count = 1 + draws.below(8); count > 0; --count) inserted += draws.byte();
  bytes.insert(draws.below(bytes.size() + 1), inserted);
}

void truncate(Bytes& bytes, Draws& draws) {
  bytes.resize(draws.below(bytes.size() + 1));
}

void splice(Bytes& bytes, const Bytes& other, Draws& draws) {
  const size_t kept = draws.below(bytes.size() + 1);
  const size_t from = draws.one_in(2) ? std::min(kept, other.size()) : draws.below(other.size() + 1);
  bytes = bytes.substr(0, kept) + other.substr(from);
}

void insert_word(Bytes& bytes, const std::vector<Bytes>& words, Draws& draws) {
  if (!words.empty()) bytes.insert(draws.below(bytes.size() + 1), draws.pick(words));
}

}  // namespace

Bytes mutate(const Bytes& base, const Bytes& other, const std::vector<Bytes>& words, Draws& draws) {
  constexpr std::array kChanges{flip_bit, set_byte, set_number, set_number,   set_decimal, set_decimal,
                                erase,    repeat,   overwrite,  insert_bytes, truncate};
  const size_t own = words.empty() ? 0 : 4;
  Bytes bytes = base;
  const size_t most = size_t{1} << draws.below(4);
  for (size_t count = 1 + draws.below(most); count > 0; --count) {
    const size_t change = draws.below(kChanges.size() + own + 1);
    if (change < kChanges.size()) {
      kChanges[change](bytes, draws);
    } else if (change < kChanges.size() + own) {
      insert_word(bytes, words, draws);
    } else {
      splice(bytes, other, draws);
    }
  }
  bytes.resize(std::min(bytes.size(), kLongestInput));
  return bytes;
}

}  // namespace lockstep::fuzz
