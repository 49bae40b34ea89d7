#include "comm/communicator.h"

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "tests/comm/collective_cases.h"
#include "tests/support/run_ranks.h"

namespace lockstep::comm {
namespace {

using lockstep::test::run_ranks;

/// The text that the call throws, or "no error".
template <class Function>
std::string refusal(const Function& call) {
  try {
    call();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "no error";
}

TEST(Communicator, RefusesBadArgumentsOnOneRankToo) {
  for (const int ranks : {1, 2}) {
    run_ranks(ranks, [&](Communicator& comm) {
      float x[8] = {};
      int64_t y[8] = {};
      EXPECT_EQ(refusal([&] {
                  comm.all_reduce({nullptr, 3, DType::kF32}, ReduceOp::kSum);
                }),
                "[all_reduce] data is null, but holds 3 elements");
      EXPECT_EQ(refusal([&] {
                  comm.all_reduce({x, -1, DType::kF32}, ReduceOp::kSum);
                }),
                "[all_reduce] data: expected a count of 0 or more, got -1");
      EXPECT_EQ(refusal([&] {
                  comm.broadcast({x, 1, DType::kF32}, ranks);
                }),
                to_text("[broadcast] root: expected a rank below ", ranks, ", got ", ranks));
      EXPECT_EQ(refusal([&] {
                  comm.all_gather({x, 1, DType::kF32}, {y, ranks, DType::kI64});
                }),
                "[all_gather] all: expected f32 as in mine, got i64");
      EXPECT_EQ(
          refusal([&] {
            comm.all_gather({x, 2, DType::kF32}, {x + 2, 5, DType::kF32});
          }),
          to_text("[all_gather] all: expected ", 2 * ranks, " elements (", ranks, " ranks, 2 each), got 5"));
      EXPECT_EQ(refusal([&] {
                  comm.tree_sum({}, 4, {x, 1, DType::kF32});
                }).substr(0, 30),
                "[tree_sum] expected 1 operands");
      EXPECT_EQ(refusal([&] {
                  comm.tree_sum({{x, 1, DType::kF32}}, 3, {x, 1, DType::kF32});
                }),
                to_text("[tree_sum] leaves: expected a power of two and at least ", ranks,
                        " (the number of ranks), got 3"));
      EXPECT_EQ(refusal([&] {
                  comm.tree_sum({{x, 2, DType::kF32}}, 4, {x, 1, DType::kF32});
                }),
                "[tree_sum] operand: expected 1 elements, got 2");
      EXPECT_EQ(refusal([&] {
                  comm.tree_sum({{x, 4, DType::kF32}}, 4, {x + 2, 4, DType::kF32});
                }),
                "[tree_sum] the result overlaps an operand without being it");
      EXPECT_EQ(comm.messages_sent(), 0U);
    });
  }
}

TEST(Communicator, CodecsAreForSumsOfF32) {
  for (const int ranks : {1, 2}) {
    run_ranks(ranks, [&](Communicator& comm) {
      float x[2] = {};
      double y[2] = {};
      const Buffer floats{x, 2, DType::kF32};
      const Buffer doubles{y, 2, DType::kF64};
      const CollectiveOptions options{.codec = Codec::kFp16};
      const std::string text =
          " codec fp16: expected none, since only all_reduce and tree_sum have codecs, for sums of f32";
      EXPECT_EQ(refusal([&] { comm.all_reduce(floats, ReduceOp::kMax, options); }), "[all_reduce]" + text);
      EXPECT_EQ(refusal([&] { comm.all_reduce(doubles, ReduceOp::kSum, options); }), "[all_reduce]" + text);
      EXPECT_EQ(refusal([&] { comm.tree_sum({doubles}, 2, doubles, options); }), "[tree_sum]" + text);
      EXPECT_EQ(refusal([&] { comm.reduce_scatter(floats, ReduceOp::kSum, options); }),
                "[reduce_scatter]" + text);
      EXPECT_EQ(refusal([&] {
                  comm.all_gather({x, 1, DType::kF32}, {x, ranks, DType::kF32}, options);
                }),
                "[all_gather]" + text);
      EXPECT_EQ(refusal([&] { comm.broadcast(floats, 0, options); }), "[broadcast]" + text);
      EXPECT_EQ(refusal([&] { comm.barrier(options); }), "[barrier]" + text);
      EXPECT_EQ(comm.messages_sent(), 0U);
    });
  }
}

TEST(Communicator, OneRankNeedsNobody) {
  run_ranks(1, [](Communicator& comm) {
    EXPECT_EQ(test::check_everything(comm), "");
    float operand[3] = {1, 2, 3};
    float result[3] = {};
    comm.tree_sum({{operand, 3, DType::kF32}}, 8, {result, 3, DType::kF32}).wait();
    EXPECT_EQ(result[2], 3);
    EXPECT_EQ(comm.bytes_sent(), 0U);
    EXPECT_EQ(comm.pending(), "");
  });
}

TEST(Communicator, TreeSumMayWriteElsewhereThanToAnOperand) {
  run_ranks(3, [](Communicator& comm) {
    const std::vector<float> sums = test::sum_uneven(comm, 4, 100);
    const float expected = test::tree_value(0, 4, 4, [](int leaf) { return test::uneven(leaf, 99); });
    EXPECT_EQ(sums[99], expected);
  });
}

TEST(Communicator, SplitGroupsByColourAndOrdersByKey) {
  run_ranks(5, [](Communicator& comm) {
    const int color = comm.rank() % 2;
    const auto part = comm.split(color, -comm.rank());
    EXPECT_EQ(part->size(), color == 0 ? 3 : 2);
    EXPECT_EQ(part->rank(), part->size() - 1 - comm.rank() / 2);
    EXPECT_EQ(test::check_everything(*part), "");
    EXPECT_EQ(test::check_everything(comm), "");
  });
}

TEST(Communicator, ANegativeColourGetsNone) {
  run_ranks(4, [](Communicator& comm) {
    const auto part = comm.split(comm.rank() == 1 ? -1 : 7, 0);
    EXPECT_EQ(part == nullptr, comm.rank() == 1);
    EXPECT_EQ(part ? test::check_all_reduce(*part, DType::kF32, ReduceOp::kSum, 10) : "", "");
  });
}

TEST(Communicator, GroupsMayInterleaveInAnyOrder) {
  // Rank 0 waits for the pair first, rank 1 for the whole first: either wait has to carry out both.
  run_ranks(2, [](Communicator& comm) {
    const auto pair = comm.split(0, comm.rank());
    std::vector<float> a(5000, 1);
    std::vector<float> b(5000, 2);
    Work whole = comm.all_reduce({a.data(), 5000, DType::kF32}, ReduceOp::kSum);
    Work part = pair->all_reduce({b.data(), 5000, DType::kF32}, ReduceOp::kSum);
    (comm.rank() == 0 ? part : whole).wait();
    (comm.rank() == 0 ? whole : part).wait();
    EXPECT_EQ(a[4999], 2);
    EXPECT_EQ(b[0], 4);
  });
}

TEST(Communicator, CountsTheStepForMessages) {
  const auto failures = lockstep::test::run_failing_ranks(2, [](Communicator& comm) {
    comm.set_step(42);
    comm.barrier();
    if (comm.rank() == 0) comm.barrier({.label = "save", .timeout = std::chrono::milliseconds(20)});
  });
  EXPECT_EQ(failures[0],
            "[barrier] rank 0: barrier #2 (save) at step 42, waiting for rank 1: not finished within 0.02 s "
            "(comm.timeout_seconds)");
  EXPECT_EQ(failures[1], "");
}

}  // namespace
}  // namespace lockstep::comm
