#include "comm/mpi/mpi_session.h"

#include <gtest/gtest.h>
#include <mpi.h>

#include "runtime/error.h"

namespace lockstep::comm {
namespace {

TEST(MpiSession, ATooLowThreadLevelIsNamedWithTheRequiredOne) {
  check_thread_level(MpiThreadLevel::kSerialized, MpiThreadLevel::kSerialized);
  check_thread_level(MpiThreadLevel::kSerialized, MpiThreadLevel::kMultiple);
  for (const MpiThreadLevel provided : {MpiThreadLevel::kSingle, MpiThreadLevel::kFunneled}) {
    try {
      check_thread_level(MpiThreadLevel::kSerialized, provided);
      FAIL() << "accepted";
    } catch (const CommError& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("expected at least MPI_THREAD_SERIALIZED"), std::string::npos) << text;
      EXPECT_NE(text.find(to_text("got ", name_of(provided))), std::string::npos) << text;
    }
  }
}

TEST(MpiSession, WhereMpiIsStartedAlreadyItOnlyAsks) {
  MpiSession second;
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  EXPECT_EQ(second.size(), size);
  second.finalize();  // not its own
  int finalized = 1;
  MPI_Finalized(&finalized);
  EXPECT_FALSE(finalized);
}

}  // namespace
}  // namespace lockstep::comm
