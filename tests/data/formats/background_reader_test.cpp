#include "data/formats/background_reader.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "runtime/error.h"
#include "tests/data/error_of.h"
#include "tests/data/idx_files.h"

namespace lockstep::data {
namespace {

constexpr size_t kBytes = (5 << 20) + 7;  // several chunks and a rest

Bytes some_bytes() {
  Bytes bytes(kBytes, '\0');
  for (size_t i = 0; i < kBytes; ++i) bytes[i] = static_cast<char>(i * i / 1000);
  return bytes;
}

TEST(BackgroundReader, SeveralThreadsSeeTheWholeContent) {
  const TemporaryDirectory directory;
  const Bytes bytes = some_bytes();
  write_file(directory / "a.gz", gzip(bytes, 1));
  const BackgroundReader reader(ByteStream(directory / "a.gz"), kBytes);
  std::vector<std::thread> threads;
  std::vector<int> equal(4, 0);
  for (size_t t = 0; t < equal.size(); ++t) {
    threads.emplace_back([&, t] {
      const size_t end = kBytes * (t + 1) / equal.size();
      equal[t] = std::memcmp(reader.wait_for(end), bytes.data(), end) == 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(equal, std::vector<int>(4, 1));
}

TEST(BackgroundReader, ADamagedEndFailsEveryWaitForIt) {
  const TemporaryDirectory directory;
  Bytes packed = gzip(some_bytes());
  packed[packed.size() - 8] ^= 1;  // the checksum
  write_file(directory / "a.gz", packed);
  const BackgroundReader reader(ByteStream(directory / "a.gz"), kBytes);
  for (int attempt = 0; attempt < 2; ++attempt) {
    expect_contains(error_of<DataError>([&] { reader.wait_for(kBytes); }), "incorrect data check");
  }
  expect_contains(error_of<DataError>([&] { reader.wait_for(1); }), "incorrect data check");
}

TEST(BackgroundReader, StopsInTheMiddle) {
  const TemporaryDirectory directory;
  write_file(directory / "zeros.gz", gzip(Bytes(200 << 20, '\0'), 1));
  const auto start = std::chrono::steady_clock::now();
  { const BackgroundReader reader(ByteStream(directory / "zeros.gz"), 200 << 20); }
  const auto stopped = std::chrono::steady_clock::now();
  { BackgroundReader(ByteStream(directory / "zeros.gz"), 200 << 20).wait_for(200 << 20); }
  EXPECT_LT(stopped - start, (std::chrono::steady_clock::now() - stopped) / 2);
}

}  // namespace
}  // namespace lockstep::data
