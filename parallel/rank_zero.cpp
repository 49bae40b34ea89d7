#include "parallel/rank_zero.h"

#include <exception>

#include "runtime/error.h"

namespace lockstep::parallel {
namespace {

// The first character of what rank 0 broadcasts says how its work ended.
constexpr char kDone = 'd';
constexpr char kConfigError = 'c';
constexpr char kDataError = 'f';
constexpr char kOtherError = 'e';

std::string outcome_of(const std::function<void()>& work) {
  try {
    work();
    return {kDone};
  } catch (const ConfigError& caught) {
    return kConfigError + std::string(caught.what());
  } catch (const DataError& caught) {
    return kDataError + std::string(caught.what());
  } catch (const std::exception& caught) {
    return kOtherError + std::string(caught.what());
  }
}

std::string broadcast(comm::Communicator& communicator, int root, const std::string& text,
                      const std::string& label, std::chrono::milliseconds timeout) {
  auto length = static_cast<int64_t>(text.size());
  communicator.broadcast({&length, 1, DType::kI64}, root, {.label = label, .timeout = timeout}).wait();
  std::string received = communicator.rank() == root ? text : std::string(static_cast<size_t>(length), '\0');
  communicator.broadcast({received.data(), length, DType::kU8}, root, {.label = label}).wait();
  return received;
}

}  // namespace

void on_rank_zero(comm::Communicator& communicator, const std::string& label,
                  std::chrono::milliseconds timeout, const std::function<void()>& work) {
  const std::string mine = communicator.rank() == 0 ? outcome_of(work) : "";
  const std::string outcome = broadcast(communicator, 0, mine, label, timeout);
  const std::string text = outcome.substr(1);
  if (outcome[0] == kConfigError) throw ConfigError(text);
  if (outcome[0] == kDataError) throw DataError(text);
  if (outcome[0] == kOtherError) throw Error(text);
}

std::string broadcast_text(comm::Communicator& communicator, const std::string& text) {
  return broadcast(communicator, 0, text, "broadcast of text", std::chrono::milliseconds{0});
}

/// One text after another, since a rank may have no room for all of them at once.
std::vector<std::string> gather_on_rank_zero(comm::Communicator& communicator, const std::string& text,
                                             const std::string& label) {
  std::vector<std::string> texts;
  for (int rank = 0; rank < communicator.size(); ++rank) {
    std::string received = broadcast(communicator, rank, text, label, std::chrono::milliseconds{0});
    if (communicator.rank() == 0) texts.push_back(std::move(received));
  }
  return texts;
}

}  // namespace lockstep::parallel
