#include "train/metrics.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "runtime/log.h"
#include "train/json_number.h"
#include "train/metrics_file.h"

namespace lockstep::train {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

MetricsWriter::MetricsWriter(const std::string& path) : path_(path) {
  open();
}

void MetricsWriter::open() {
  file_.emplace(path_, O_WRONLY | O_CREAT | O_APPEND);
}

void MetricsWriter::write(const StepRecord& record) {
  Json line{{"step", record.step},
            {"epoch", record.epoch},
            {"samples", record.samples},
            {"loss", json_number(record.loss)},
            {"lr", json_number(record.lr)},
            {"samples_per_second", json_number(record.samples_per_second)},
            {"wall_time", json_number(record.wall_time)}};
  if (record.weights) {
    line["weights_hash"] = to_hex(record.weights->total);
    Json& tensors = line["tensor_hashes"] = Json::object();
    for (const auto& [name, hash] : record.weights->tensors) tensors[name] = to_hex(hash);
  }
  for (const auto& [name, value] : record.other) line[name] = json_number(value);
  write_line(line.dump());
}

void MetricsWriter::write(const EvaluationRecord& record) {
  Json line{{"step", record.step}, {"epoch", record.epoch}, {"eval_loss", json_number(record.loss)}};
  for (const auto& [name, value] : record.metrics) line["eval_" + name] = json_number(value);
  line["eval_count"] = record.count;
  if (record.bad_samples > 0) line["eval_bad_samples"] = record.bad_samples;
  write_line(line.dump());
}

void MetricsWriter::write_line(const std::string& line) {
  std::error_code unknown;
  if (!std::filesystem::exists(path_, unknown) && !unknown) {
    log::warning("\"", path_, "\" was removed: earlier lines are lost, a new file begins");
    open();
  }
  const std::string text = line + '\n';
  for (size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(file_->get(), text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw FileError("write", path_, errno);
    done += static_cast<size_t>(written);
  }
}

void truncate_metrics(const std::string& path, int64_t step) {
  if (!std::filesystem::exists(path)) return;
  uint64_t end = 0;
  for (const MetricsLine& line : read_metrics(path)) {
    if (line.step > step) break;
    end = line.end;
  }
  if (::truncate(path.c_str(), static_cast<off_t>(end)) != 0) throw FileError("truncate", path, errno);
}

}  // namespace lockstep::train
