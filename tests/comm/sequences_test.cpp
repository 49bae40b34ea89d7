// Random sequences of collectives, several in flight, waited for in random order.
#include <gtest/gtest.h>

#include <functional>

#include "runtime/error.h"
#include "runtime/rng.h"
#include "tests/comm/collective_cases.h"
#include "tests/support/run_ranks.h"

namespace lockstep::comm::test {
namespace {

/// A collective that was started, its memory, and what it must give.
struct Started {
  std::vector<int64_t> memory;
  Work work;
  std::function<std::string(const std::vector<int64_t>&)> verify;
};

/// Draws of one sequence, the same on all ranks.
class Draws {
 public:
  explicit Draws(uint64_t sequence) : stream_(2026, Purpose::kTest, sequence, 0) {}
  int below(int bound) { return static_cast<int>(stream_.below(next_++, static_cast<uint32_t>(bound))); }

 private:
  RandomStream stream_;
  uint64_t next_ = 0;
};

std::function<std::string(const std::vector<int64_t>&)> expect(const std::string& what, Range range,
                                                               std::function<int64_t(int64_t)> value) {
  return [=](const std::vector<int64_t>& memory) -> std::string {
    for (int64_t i = range.begin; i < range.end; ++i) {
      if (memory[i] != value(i))
        return to_text(what, " element ", i, ": ", memory[i], " instead of ", value(i), "; ");
    }
    return "";
  };
}

void start_reduction(Communicator& comm, bool scatter, ReduceOp op, int64_t count, Started& started) {
  const int ranks = comm.size();
  for (int64_t i = 0; i < count; ++i) started.memory.push_back(element(comm.rank(), i));
  const Buffer data{started.memory.data(), count, DType::kI64};
  started.work = scatter ? comm.reduce_scatter(data, op) : comm.all_reduce(data, op);
  started.verify = expect(scatter ? "reduce_scatter" : "all_reduce",
                          scatter ? chunk_of(count, ranks, comm.rank()) : Range{0, count},
                          [=](int64_t i) { return reduced(op, ranks, i); });
}

void start_all_gather(Communicator& comm, int64_t count, Started& started) {
  started.memory.assign(count * comm.size(), -1);
  int64_t* place = started.memory.data() + comm.rank() * count;
  for (int64_t i = 0; i < count; ++i) place[i] = element(comm.rank(), i);
  started.work =
      comm.all_gather({place, count, DType::kI64}, {started.memory.data(), count * comm.size(), DType::kI64});
  started.verify = expect("all_gather", {0, count * comm.size()},
                          [=](int64_t i) { return element(static_cast<int>(i / count), i % count); });
}

void start_broadcast(Communicator& comm, int root, int64_t count, Started& started) {
  for (int64_t i = 0; i < count; ++i) started.memory.push_back(comm.rank() == root ? element(root, i) : -1);
  started.work = comm.broadcast({started.memory.data(), count, DType::kI64}, root);
  started.verify = expect("broadcast", {0, count}, [=](int64_t i) { return element(root, i); });
}

void start_tree_sum(Communicator& comm, int leaves, int64_t count, Started& started) {
  const auto [first, last] = rank_leaves(leaves, comm.size(), comm.rank());
  const std::vector<TreeNode> nodes = maximal_subtrees(leaves, first, last);
  for (const TreeNode& node : nodes) {
    for (int64_t i = 0; i < count; ++i) started.memory.push_back((i + 1) << node.level);
  }
  std::vector<Buffer> operands;
  for (size_t n = 0; n < nodes.size(); ++n) {
    operands.push_back({started.memory.data() + static_cast<int64_t>(n) * count, count, DType::kI64});
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
      started.verify = [](const std::vector<int64_t>&) { return std::string(); };
  }
}

void run_sequence(Communicator& comm, uint64_t sequence) {
  Draws draws(sequence);
  std::vector<Started> started(2 + draws.below(7));
  for (Started& one : started) start_random(comm, draws, one);
  // Each rank waits in another order.
  for (size_t i = 0; i < started.size(); ++i) {
    Started& one = started[(i + comm.rank()) % started.size()];
    one.work.wait();
    EXPECT_EQ(one.verify(one.memory), "") << "sequence " << sequence;
  }
}

class Sequences : public testing::TestWithParam<std::string> {};

TEST_P(Sequences, AThousandAreExact) {
  uint64_t sequence = 0;
  for (int ranks = 2; ranks <= 6; ++ranks) {
    lockstep::test::RunOptions options;
    options.host.algorithm = GetParam();
    options.host.numerics = Numerics::kFast;
    options.host.chunk_bytes = 256;
    options.host.max_message_bytes = 200;
    options.host.debug_checks = ranks == 3;
    options.host.progress = ranks == 4 ? Progress::kThread : Progress::kCaller;
    lockstep::test::run_ranks(
        ranks,
        [&](Communicator& comm) {
          for (uint64_t s = sequence; s < sequence + 200; ++s) run_sequence(comm, s);
        },
        options);
    sequence += 200;
  }
}

INSTANTIATE_TEST_SUITE_P(, Sequences, testing::ValuesIn(algorithm_list()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace lockstep::comm::test
