#include "comm/shared/shared_memory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "runtime/error.h"

namespace lockstep::comm {
namespace {

int64_t open_files() {
  const std::filesystem::directory_iterator files("/proc/self/fd");
  return std::distance(begin(files), end(files));
}

TEST(SharedMemory, IsZero) {
  SharedMemory memory;
  const auto storage = memory.allocate(10000);
  EXPECT_EQ(storage->nbytes(), 10000U);
  EXPECT_EQ(std::count(storage->data(), storage->data() + 10000, std::byte{0}), 10000);
}

TEST(SharedMemory, FindsWhatLiesInItAsAWhole) {
  SharedMemory memory;
  const auto first = memory.allocate(100);
  const auto second = memory.allocate(100);
  int elsewhere = 0;
  const auto place = memory.find(second->data() + 40, 60);
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(place->offset, 40U);
  EXPECT_EQ(place->process, getpid());
  EXPECT_NE(place->segment, memory.find(first->data(), 100)->segment);
  EXPECT_FALSE(memory.find(second->data() + 40, 61).has_value());
  EXPECT_FALSE(memory.find(&elsewhere, sizeof(elsewhere)).has_value());
  EXPECT_FALSE(memory.find(nullptr, 0).has_value());
}

TEST(SharedMemory, IsReachedAtItsOwnAddressInTheSameProcess) {
  SharedMemory memory;
  SharedMemory other;
  const auto storage = memory.allocate(100);
  EXPECT_EQ(other.reach(*memory.find(storage->data() + 8, 4)), storage->data() + 8);
}

TEST(SharedMemory, IsReachedFromAnotherProcess) {
  SharedMemory memory;
  const auto storage = memory.allocate(1 << 20);
  std::memcpy(storage->data() + 4096, "here", 5);
  const SharedPlace place = *memory.find(storage->data() + 4096, 5);
  const pid_t child = fork();
  if (child == 0) {  // the parent's segment, mapped anew; the inherited mapping is not used
    SharedMemory from_outside;
    std::byte* const there = from_outside.reach(place);
    const bool seen = there != storage->data() + 4096 && std::memcmp(there, "here", 5) == 0;
    std::memcpy(there, "gone", 5);
    _exit(seen && from_outside.reach(place) == there ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_STREQ(reinterpret_cast<const char*>(storage->data() + 4096), "gone");
}

TEST(SharedMemory, SaysWhyAPlaceCannotBeReached) {
  SharedMemory memory;
  SharedPlace place;
  place.process = 1 << 30;
  place.descriptor = 3;
  place.nbytes = 1;
  try {
    memory.reach(place);
    FAIL() << "reached";
  } catch (const CommError& error) {
    EXPECT_STREQ(error.what(), "[shared memory] /proc/1073741824/fd/3: No such file or directory");
  }
}

TEST(SharedMemory, SaysWhenThereIsNotEnough) {
  SharedMemory memory;
  const int64_t files = open_files();
  EXPECT_THROW(memory.allocate(~size_t{0}), DeviceError);
  EXPECT_EQ(open_files(), files);
}

TEST(SharedMemory, GoesWithItsLastUser) {
  const int64_t files = open_files();
  std::shared_ptr<Storage> storage;
  {
    SharedMemory memory;
    storage = memory.allocate(100);
    EXPECT_GT(open_files(), files);
  }
  storage->data()[0] = std::byte{1};  // outlives the object that gave it
  storage.reset();
  EXPECT_EQ(open_files(), files);
}

}  // namespace
}  // namespace lockstep::comm
