// Reads event files as TensorBoard does: record by record, every checksum compared.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "train/event_file.h"

namespace lockstep::train {

/// CRC-32C, bit by bit.
inline uint32_t plain_crc32c(const std::string& bytes) {
  uint32_t crc = ~0U;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78U : 0);
  }
  return ~crc;
}

inline uint32_t masked(uint32_t crc) {
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

/// The events of a file; a record that is not whole or not intact fails the test.
inline std::vector<tensorboard::Event> read_event_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<tensorboard::Event> events;
  for (size_t at = 0; at < bytes.size();) {
    uint64_t length = 0;
    std::array<uint32_t, 2> checksums{};
    const bool has_head = at + 12 <= bytes.size();
    if (has_head) std::memcpy(&length, bytes.data() + at, sizeof length);
    if (!has_head || at + 16 + length > bytes.size()) {
      ADD_FAILURE() << path << ": a broken record at " << at;
      break;
    }
    std::memcpy(&checksums[0], bytes.data() + at + 8, 4);
    std::memcpy(&checksums[1], bytes.data() + at + 12 + length, 4);
    EXPECT_EQ(checksums[0], masked(plain_crc32c(bytes.substr(at, 8)))) << path << " at " << at;
    EXPECT_EQ(checksums[1], masked(plain_crc32c(bytes.substr(at + 12, length)))) << path << " at " << at;
    EXPECT_TRUE(events.emplace_back().ParseFromString(bytes.substr(at + 12, length))) << path << " at " << at;
    EXPECT_TRUE(events.back().unknown_fields().empty());
    at += 16 + length;
  }
  return events;
}

}  // namespace lockstep::train
