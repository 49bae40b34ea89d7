// Random sequences of collectives, several in flight, waited for in random order, on all ranks and on parts
// of them; and with a rank that fails at a random point.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <span>

#include "runtime/error.h"
#include "runtime/rng.h"
#include "tests/comm/collective_cases.h"
#include "tests/support/run_ranks.h"

namespace lockstep::comm::test {
namespace {

using Elements = std::span<int64_t>;
using Verify = std::function<std::string(Elements)>;

/// A collective that was started, its memory, and what it must give.
struct Started {
  void allocate(Communicator& comm, int64_t count) {
    storage = comm.allocate(static_cast<size_t>(count) * sizeof(int64_t));
    memory = {reinterpret_cast<int64_t*>(storage->data()), static_cast<size_t>(count)};
  }

  std::shared_ptr<Storage> storage;
  Elements memory;
  Work work;
  Verify verify;
};

constexpr uint64_t kEach = 400;  // sequences for each number of ranks: 2,000 for each algorithm

/// Draws of one sequence, the same on all ranks.
class Draws {
 public:
  explicit Draws(uint64_t sequence) : stream_(2026, Purpose::kTest, sequence, 0) {}
  int below(int bound) { return static_cast<int>(stream_.below(next_++, static_cast<uint32_t>(bound))); }

 private:
  RandomStream stream_;
  uint64_t next_ = 0;
};

Verify expect(const std::string& what, Range range, std::function<int64_t(int64_t)> value) {
  return [=](Elements memory) -> std::string {
    for (int64_t i = range.begin; i < range.end; ++i) {
      const int64_t got = memory[static_cast<size_t>(i)];
      if (got != value(i)) return to_text(what, " element ", i, ": ", got, " instead of ", value(i), "; ");
    }
    return "";
  };
}

void start_reduction(Communicator& comm, bool scatter, ReduceOp op, int64_t count, Started& started) {
  const int ranks = comm.size();
  started.allocate(comm, count);
  for (int64_t i = 0; i < count; ++i) started.memory[static_cast<size_t>(i)] = element(comm.rank(), i);
  const Buffer data{started.memory.data(), count, DType::kI64};
  started.work = scatter ? comm.reduce_scatter(data, op) : comm.all_reduce(data, op);
  started.verify = expect(scatter ? "reduce_scatter" : "all_reduce",
                          scatter ? chunk_of(count, ranks, comm.rank()) : Range{0, count},
                          [=](int64_t i) { return reduced(op, ranks, i); });
}

void start_all_gather(Communicator& comm, int64_t count, Started& started) {
  started.allocate(comm, count * comm.size());
  int64_t* place = started.memory.data() + comm.rank() * count;
  for (int64_t i = 0; i < count; ++i) place[i] = element(comm.rank(), i);
  started.work =
      comm.all_gather({place, count, DType::kI64}, {started.memory.data(), count * comm.size(), DType::kI64});
  started.verify = expect("all_gather", {0, count * comm.size()},
                          [=](int64_t i) { return element(static_cast<int>(i / count), i % count); });
}

void start_broadcast(Communicator& comm, int root, int64_t count, Started& started) {
  started.allocate(comm, count);
  for (int64_t i = 0; i < count; ++i) {
    started.memory[static_cast<size_t>(i)] = comm.rank() == root ? element(root, i) : -1;
  }
  started.work = comm.broadcast({started.memory.data(), count, DType::kI64}, root);
  started.verify = expect("broadcast", {0, count}, [=](int64_t i) { return element(root, i); });
}

void start_tree_sum(Communicator& comm, int leaves, int64_t count, Started& started) {
  const auto [first, last] = rank_leaves(leaves, comm.size(), comm.rank());
  const std::vector<TreeNode> nodes = maximal_subtrees(leaves, first, last);
  started.allocate(comm, count * static_cast<int64_t>(nodes.size()));
  std::vector<Buffer> operands;
  for (const TreeNode& node : nodes) {
    int64_t* const operand = started.memory.data() + static_cast<int64_t>(operands.size()) * count;
    for (int64_t i = 0; i < count; ++i) operand[i] = (i + 1) << node.level;
    operands.push_back({operand, count, DType::kI64});
  }
  started.work = comm.tree_sum(operands, leaves, operands[0]);
  started.verify = expect("tree_sum", {0, count}, [=](int64_t i) { return (i + 1) * leaves; });
}

void start_random(Communicator& comm, Draws& draws, Started& started) {
  const int kind = draws.below(6);
  const ReduceOp op = static_cast<ReduceOp>(draws.below(3));
  const int root = draws.below(comm.size());
  const int64_t count = draws.below(4) == 0 ? draws.below(4) : draws.below(600);
  switch (kind) {
    case 0:
      return start_reduction(comm, false, op, count, started);
    case 1:
      return start_reduction(comm, true, op, count, started);
    case 2:
      return start_all_gather(comm, count, started);
    case 3:
      return start_broadcast(comm, root, count, started);
    case 4:
      return start_tree_sum(comm, 8, count, started);
    default:
      comm.barrier();
      started.verify = [](Elements) { return std::string(); };
  }
}

/// Some collectives, started one after another and waited for in an order that differs from rank to rank.
void run_collectives(Communicator& comm, Draws& draws, uint64_t sequence) {
  std::vector<Started> started(static_cast<size_t>(2 + draws.below(7)));
  for (Started& one : started) start_random(comm, draws, one);
  for (size_t i = 0; i < started.size(); ++i) {
    Started& one = started[(i + static_cast<size_t>(comm.rank())) % started.size()];
    one.work.wait();
    EXPECT_EQ(one.verify(one.memory), "") << "sequence " << sequence;
  }
}

void run_sequence(Communicator& comm, uint64_t sequence) {
  Draws draws(sequence);
  run_collectives(comm, draws, sequence);
  if (draws.below(8) > 0) return;
  const int parts = 1 + draws.below(3);
  const auto part = comm.split(comm.rank() % parts, draws.below(2) == 0 ? 0 : -comm.rank());
  run_collectives(*part, draws, sequence);
}

class Sequences : public testing::TestWithParam<std::string> {};

TEST_P(Sequences, AreExact) {
  uint64_t sequence = 0;
  for (int ranks = 2; ranks <= 6; ++ranks) {
    lockstep::test::RunOptions options;
    options.host.algorithm = GetParam();
    options.host.numerics = Numerics::kFast;
    options.host.chunk_bytes = 256;
    options.host.max_message_bytes = 200;
    options.host.debug_checks = ranks == 3;
    options.host.progress = ranks == 4 ? Progress::kThread : Progress::kCaller;
    if (GetParam() == "hierarchical") options.ranks_per_node = ranks % 2 == 0 ? 2 : ranks;
    lockstep::test::run_ranks(
        ranks,
        [&](Communicator& comm) {
          for (uint64_t s = sequence; s < sequence + kEach; ++s) run_sequence(comm, s);
        },
        options);
    sequence += kEach;
  }
}

/// One rank leaves with an error in the middle of a collective; the others must not wait for ever, and no
/// memory may be touched after its owner has gone.
TEST_P(Sequences, AFaultEndsAllRanks) {
  for (uint64_t fault = 0; fault < 100; ++fault) {
    Draws draws(fault);
    const int ranks = 2 + draws.below(4);
    const int failing = draws.below(ranks);
    const int after = draws.below(6);
    lockstep::test::RunOptions options;
    options.host.algorithm = GetParam();
    options.host.numerics = Numerics::kFast;
    options.host.chunk_bytes = 256;
    if (GetParam() == "hierarchical") options.ranks_per_node = ranks;
    // Ranks that are threads read each other's memory itself, so it stays until all are back.
    std::vector<std::vector<Started>> started(static_cast<size_t>(ranks));
    const std::vector<std::string> errors = lockstep::test::run_failing_ranks(
        ranks,
        [&](Communicator& comm) {
          std::vector<Started>& mine = started[static_cast<size_t>(comm.rank())];
          Draws calls(1000 + fault);
          mine.resize(8);
          for (int i = 0; i < 8; ++i) {
            check(comm.rank() != failing || i != after, "test", "fails here");
            start_random(comm, calls, mine[static_cast<size_t>(i)]);
          }
          for (Started& one : mine) one.work.wait();
        },
        options);
    for (const std::string& error : errors) EXPECT_NE(error, "") << "fault " << fault;
  }
}

INSTANTIATE_TEST_SUITE_P(, Sequences, testing::ValuesIn(algorithm_list()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace lockstep::comm::test
