// metrics.jsonl, and what is drawn of it.
#include <sstream>

#include "tests/fuzz/target.h"
#include "train/metrics_file.h"

namespace lockstep::fuzz {
namespace {

void parse(const Bytes& input) {
  train::read_metrics(write_scratch("metrics.jsonl", input));
}

std::vector<Bytes> seeds() {
  return {"", "{\"step\":1}\n",
          "{\"step\":1,\"epoch\":0.5,\"loss\":2.25,\"lr\":0.1,\"samples_per_second\":1e4}\n"
          "{\"step\":2,\"epoch\":1.0,\"loss\":\"nan\",\"lr\":0.05,\"hash\":\"0123456789abcdef\"}\n"
          "{\"step\":2,\"eval_loss\":1.5,\"eval_accuracy\":0.5,\"eval_count\":10}\n"};
}

}  // namespace

const Target kTarget{
    .parse = parse,
    .seeds = seeds,
    .words = {"{", "}", "[", "]", "\"", ",", ":", "\n", "\\u0000", "\\ud800", "\xff", "null", "true",
              "\"step\":", "\"loss\":", "\"eval_loss\":", "{\"step\":3}\n", "1e400", "-0"}};

}  // namespace lockstep::fuzz
