#include "launcher/allreduce_bench.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "comm/codecs/table.h"
#include "launcher/exact_sums.h"
#include "runtime/error.h"

namespace lockstep::launcher {
namespace {

using comm::Buffer;
using Clock = std::chrono::steady_clock;

/// Of one plan on all ranks of a machine; more could make it swap.
constexpr size_t kMostScratchBytes = size_t{1} << 30;
constexpr int kMostIterationsPerRound = 20000;

}  // namespace

AllreduceBench::AllreduceBench(comm::HostCommunicator& communicator, const AllreduceBenchOptions& options,
                               size_t largest)
    : communicator_(communicator),
      options_(options),
      mpi_(options.baselines ? std::make_unique<MpiAllreduce>() : nullptr),
      memory_(communicator.allocate(largest)),
      mpi_memory_(Storage::allocate(options.baselines ? largest : 1, kCpu)) {
  std::memset(mpi_memory_->data(), 0, mpi_memory_->nbytes());
}

std::vector<AllreduceRow> AllreduceBench::measure(size_t nbytes, DType dtype) {
  const auto count = static_cast<int64_t>(nbytes / size_of(dtype));
  const Buffer buffer{memory_->data(), count, dtype};
  std::vector<Contender> all = contenders(buffer);
  for (Contender& contender : all) {
    if (options_.verify) contender.wrong = verify(contender, buffer);
  }
  std::memset(memory_->data(), 0, nbytes);
  if (mpi_) std::memset(mpi_memory_->data(), 0, nbytes);
  for (int round = 0; round < options_.rounds; ++round) {
    for (Contender& contender : all) run_round(contender, buffer);
  }
  std::vector<AllreduceRow> rows;
  communicator_.set_algorithm("auto");
  for (Contender& contender : all) {
    over_all_ranks(contender.seconds.data(), contender.seconds.size(), comm::ReduceOp::kMax);
    over_all_ranks(&contender.wrong, 1, comm::ReduceOp::kSum);
    rows.push_back(allreduce_row({.ranks = communicator_.size(),
                                  .nbytes = static_cast<size_t>(count) * size_of(dtype),
                                  .count = count,
                                  .dtype = name_of(dtype),
                                  .algorithm = contender.name,
                                  .codec = comm::name_of(contender.codec)},
                                 contender.seconds, contender.wrong));
  }
  return rows;
}

template <class T>
void AllreduceBench::over_all_ranks(T* values, size_t count, comm::ReduceOp op) {
  communicator_.all_reduce({values, static_cast<int64_t>(count), DTypeOf<T>::value}, op).wait();
}

std::vector<AllreduceBench::Contender> AllreduceBench::contenders(const Buffer& buffer) const {
  std::vector<Contender> all;
  for (const std::string& algorithm : options_.algorithms) {
    if (!fits(algorithm, buffer)) continue;
    for (const comm::Codec codec : options_.codecs) {
      if (codec == comm::Codec::kNone || buffer.dtype == DType::kF32) all.push_back({algorithm, -1, codec});
    }
  }
  if (mpi_ && MpiAllreduce::supports(buffer.dtype)) {
    for (size_t i = 0; i < mpi_->names().size(); ++i) all.push_back({mpi_->names()[i], static_cast<int>(i)});
  }
  return all;
}

bool AllreduceBench::fits(const std::string& algorithm, const Buffer& buffer) const {
  if (algorithm == "auto") return true;
  // direct keeps what all ranks send.
  const comm::Algorithm& chosen = comm::parse_selection(algorithm, false).choose(buffer.nbytes());
  const auto ranks = static_cast<size_t>(communicator_.size());
  return std::string_view(chosen.name) != "direct" || buffer.nbytes() * ranks * ranks <= kMostScratchBytes;
}

void AllreduceBench::choose(const Contender& contender) {
  if (contender.of_mpi < 0) communicator_.set_algorithm(contender.name);
}

Buffer AllreduceBench::buffer_for(const Contender& contender, const Buffer& buffer) const {
  return {contender.of_mpi < 0 ? buffer.data : mpi_memory_->data(), buffer.count, buffer.dtype};
}

void AllreduceBench::reduce(const Contender& contender, const Buffer& buffer) {
  if (contender.of_mpi < 0) {
    communicator_.all_reduce(buffer, comm::ReduceOp::kSum, {.codec = contender.codec}).wait();
  } else {
    mpi_->sum(static_cast<size_t>(contender.of_mpi), buffer);
  }
}

int64_t AllreduceBench::verify(const Contender& contender, const Buffer& buffer) {
  const Buffer data = buffer_for(contender, buffer);
  fill_exact(data, communicator_.rank(), communicator_.size());
  choose(contender);
  reduce(contender, data);
  return count_wrong_sums(data, communicator_.size());
}

void AllreduceBench::run_round(Contender& contender, const Buffer& buffer) {
  const Buffer data = buffer_for(contender, buffer);
  choose(contender);
  const Clock::time_point begin = Clock::now();
  for (int i = 0; i <= options_.warmup; ++i) reduce(contender, data);
  double each = std::chrono::duration<double>(Clock::now() - begin).count() / (options_.warmup + 1);
  over_all_ranks(&each, 1, comm::ReduceOp::kMax);
  const double affordable = options_.seconds / options_.rounds / each;
  const int least = (options_.iterations + options_.rounds - 1) / options_.rounds;
  const int iterations = static_cast<int>(std::clamp<double>(affordable, least, kMostIterationsPerRound));
  for (int i = 0; i < iterations; ++i) {
    const Clock::time_point start = Clock::now();
    reduce(contender, data);
    contender.seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
}

}  // namespace lockstep::launcher
