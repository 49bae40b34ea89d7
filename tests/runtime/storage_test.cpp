#include "runtime/storage.h"

#include <gtest/gtest.h>

#include <array>

#include "runtime/pool.h"

namespace lockstep {
namespace {

TEST(Storage, TakesMemoryFromThePoolAndGivesItBack) {
  const size_t before = pool::statistics(kCpu).bytes_in_use;
  auto storage = Storage::allocate(1000, kCpu);
  EXPECT_EQ(storage->nbytes(), 1000U);
  EXPECT_EQ(storage->device(), kCpu);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(storage->data()) % 64, 0U);
  EXPECT_EQ(pool::statistics(kCpu).bytes_in_use, before + pool::size_class(1000));
  auto second_owner = storage;
  storage.reset();
  EXPECT_EQ(pool::statistics(kCpu).bytes_in_use, before + pool::size_class(1000));
  second_owner.reset();
  EXPECT_EQ(pool::statistics(kCpu).bytes_in_use, before);
}

TEST(Storage, NoBytesStillHaveAnAddress) {
  const auto storage = Storage::allocate(0, kCpu);
  EXPECT_EQ(storage->nbytes(), 0U);
  EXPECT_NE(storage->data(), nullptr);
}

TEST(Storage, WrappedMemoryIsReleasedOnceByItsOwner) {
  std::array<std::byte, 64> memory{};
  int released = 0;
  const size_t before = pool::statistics(kCpu).bytes_cached;
  auto storage = Storage::wrap(memory.data(), memory.size(), kCpu, [&] { ++released; });
  EXPECT_EQ(storage->data(), memory.data());
  auto second_owner = storage;
  storage.reset();
  EXPECT_EQ(released, 0);
  second_owner.reset();
  EXPECT_EQ(released, 1);
  EXPECT_EQ(pool::statistics(kCpu).bytes_cached, before);
}

TEST(Storage, WrappedMemoryWithoutAReleaseStaysOutOfThePool) {
  std::array<std::byte, 64> memory{};
  const size_t before = pool::statistics(kCpu).bytes_cached;
  Storage::wrap(memory.data(), memory.size(), kCpu, nullptr).reset();
  EXPECT_EQ(pool::statistics(kCpu).bytes_cached, before);
}

TEST(Storage, VersionCountsChanges) {
  const auto storage = Storage::allocate(4, kCpu);
  EXPECT_EQ(storage->version(), 0U);
  storage->bump_version();
  storage->bump_version();
  EXPECT_EQ(storage->version(), 2U);
}

}  // namespace
}  // namespace lockstep
