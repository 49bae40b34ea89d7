#include "data/formats/background_reader.h"

#include <gtest/gtest.h>

#include <cstring>
#include <ctime>
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
  const auto [content, packed] = damage_behind_the_content(7);
  write_file(directory / "a.gz", packed);
  const BackgroundReader reader(ByteStream(directory / "a.gz"), content.size());
  for (int attempt = 0; attempt < 2; ++attempt) {
    expect_contains(error_of<DataError>([&, size = content.size()] { reader.wait_for(size); }),
                    "incorrect data check");
  }
  expect_contains(error_of<DataError>([&] { reader.wait_for(1); }), "incorrect data check");
}

// Measured in processor time; several attempts, since on a busy machine the reader may run on before it is
// told to stop.
TEST(BackgroundReader, StopsInTheMiddle) {
  constexpr size_t kZeros = 64 << 20;
  const TemporaryDirectory directory;
  write_file(directory / "zeros.gz", gzip(Bytes(kZeros, '\0'), 1));
  const auto time_to_read = [&](size_t nbytes) {
    const std::clock_t start = std::clock();
    BackgroundReader(ByteStream(directory / "zeros.gz"), kZeros).wait_for(nbytes);
    return std::clock() - start;
  };
  const std::clock_t whole = time_to_read(kZeros);
  bool stopped_early = false;
  for (int attempt = 0; attempt < 20 && !stopped_early; ++attempt)
    stopped_early = time_to_read(1) < whole / 2;
  EXPECT_TRUE(stopped_early);
}

}  // namespace
}  // namespace lockstep::data
