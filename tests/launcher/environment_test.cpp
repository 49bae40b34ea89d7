#include "launcher/environment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "runtime/error.h"
#include "tests/support/expect_error.h"

namespace lockstep::launcher {
namespace {

Lookup table(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

void expect_identity(const Identity& identity, int rank, int size, int local_rank, int local_size) {
  EXPECT_EQ(identity.rank, rank);
  EXPECT_EQ(identity.size, size);
  EXPECT_EQ(identity.local_rank, local_rank);
  EXPECT_EQ(identity.local_size, local_size);
}

TEST(Identify, AloneWithoutALauncher) {
  const Identity identity = identify(table({}));
  EXPECT_FALSE(identity.has_launcher());
  expect_identity(identity, 0, 1, 0, 1);
  EXPECT_EQ(identity.hint, "");
}

TEST(Identify, OpenMpi) {
  const Identity identity = identify(table({{"OMPI_COMM_WORLD_RANK", "5"},
                                            {"OMPI_COMM_WORLD_SIZE", "8"},
                                            {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                            {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                                            {"OMPI_COMM_WORLD_NODE_RANK", "1"}}));
  EXPECT_EQ(identity.launcher, "Open MPI");
  expect_identity(identity, 5, 8, 1, 4);
}

TEST(Identify, MpirunInsideABatchJobBeatsSlurm) {
  const Identity identity = identify(table({{"OMPI_COMM_WORLD_RANK", "1"},
                                            {"OMPI_COMM_WORLD_SIZE", "2"},
                                            {"SLURM_JOB_ID", "7"},
                                            {"SLURM_PROCID", "0"},
                                            {"SLURM_NTASKS", "2"},
                                            {"SLURM_STEP_ID", "0"}}));
  EXPECT_EQ(identity.launcher, "Open MPI");
  EXPECT_EQ(identity.rank, 1);
}

TEST(Identify, SlurmStepBeforeSlurmJob) {
  const Identity identity = identify(table({{"SLURM_STEP_ID", "0"},
                                            {"SLURM_PROCID", "5"},
                                            {"SLURM_NTASKS", "16"},
                                            {"SLURM_STEP_NUM_TASKS", "7"},
                                            {"SLURM_LOCALID", "1"},
                                            {"SLURM_NODEID", "2"},
                                            {"SLURM_STEP_TASKS_PER_NODE", "2(x3),1"}}));
  EXPECT_EQ(identity.launcher, "Slurm step");
  expect_identity(identity, 5, 7, 1, 2);
}

TEST(Identify, SlurmCountsOfEveryNode) {
  const std::pair<int, int> expected[] = {{0, 2}, {2, 2}, {3, 1}};
  for (const auto& [node, tasks] : expected) {
    const Identity identity = identify(table({{"SLURM_STEP_ID", "0"},
                                              {"SLURM_PROCID", "0"},
                                              {"SLURM_STEP_NUM_TASKS", "7"},
                                              {"SLURM_NODEID", std::to_string(node)},
                                              {"SLURM_STEP_TASKS_PER_NODE", "2(x3),1"}}));
    EXPECT_EQ(identity.local_size, tasks) << "node " << node;
  }
}

TEST(Identify, APlainProcessInABatchJobIsAloneAndToldSo) {
  const Identity identity =
      identify(table({{"SLURM_JOB_ID", "7"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "2"}}));
  expect_identity(identity, 0, 1, 0, 1);
  EXPECT_NE(identity.hint.find("2 tasks"), std::string::npos);
}

TEST(Identify, TorchrunVariablesMustAgree) {
  const std::map<std::string, std::string> mpi{{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}};
  auto agreeing = mpi;
  agreeing.insert({{"RANK", "1"}, {"WORLD_SIZE", "2"}});
  EXPECT_EQ(identify(table(agreeing)).rank, 1);
  auto disagreeing = mpi;
  disagreeing.insert({{"RANK", "0"}, {"WORLD_SIZE", "2"}});
  test::expect_error<ConfigError>([&] { identify(table(disagreeing)); },
                                  "RANK=0 WORLD_SIZE=2 disagree with Open MPI: rank 1 of 2");
  test::expect_error<ConfigError>(
      [&] {
        identify(table({{"RANK", "1"}, {"WORLD_SIZE", "4"}}));
      },
      "mpirun -np 4");
}

TEST(Identify, NonsenseIsNamed) {
  test::expect_error<ConfigError>(
      [&] {
        identify(table({{"OMPI_COMM_WORLD_RANK", "x"}}));
      },
      "OMPI_COMM_WORLD_RANK=x");
  test::expect_error<ConfigError>(
      [&] {
        identify(table({{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "2"}}));
      },
      "rank 3 of 2");
}

TEST(EnvironmentWith, ReplacesAndAddsToThisProcesssOwn) {
  ASSERT_EQ(::setenv("LOCKSTEP_TEST_A", "old", 1), 0);
  ASSERT_EQ(::setenv("LOCKSTEP_TEST_AB", "stays", 1), 0);
  const auto all = environment_with({"LOCKSTEP_TEST_A=new", "LOCKSTEP_TEST_C=more"});
  const auto count = [&](const char* text) { return std::count(all.begin(), all.end(), text); };
  EXPECT_EQ(count("LOCKSTEP_TEST_A=new"), 1);
  EXPECT_EQ(count("LOCKSTEP_TEST_A=old"), 0);
  EXPECT_EQ(count("LOCKSTEP_TEST_AB=stays"), 1);
  EXPECT_EQ(count("LOCKSTEP_TEST_C=more"), 1);
}

TEST(OpenMpThreads, FirstOfAList) {
  EXPECT_EQ(openmp_threads(table({})), 0);
  EXPECT_EQ(openmp_threads(table({{"OMP_NUM_THREADS", "3"}})), 3);
  EXPECT_EQ(openmp_threads(table({{"OMP_NUM_THREADS", "4,2"}})), 4);
  EXPECT_THROW(openmp_threads(table({{"OMP_NUM_THREADS", "many"}})), ConfigError);
}

}  // namespace
}  // namespace lockstep::launcher
