#include "train/metrics_file.h"

#include <fstream>

#include "runtime/error.h"

namespace lockstep::train {

std::vector<MetricsLine> read_metrics(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  check<DataError>(file.good(), "metrics", "cannot read \"", path, '"');
  std::vector<MetricsLine> lines;
  uint64_t end = 0;
  for (std::string text; std::getline(file, text) && !file.eof();) {
    end += text.size() + 1;
    try {
      MetricsLine line{.step = 0, .fields = nlohmann::ordered_json::parse(text), .end = end};
      const nlohmann::ordered_json& step = line.fields.at("step");
      check<DataError>(step.is_number_integer(), "metrics", '"', path, "\", line ", lines.size() + 1,
                       ": step is ", step.dump(), ": expected an integer");
      line.step = step.get<int64_t>();
      lines.push_back(std::move(line));
    } catch (const nlohmann::json::exception& error) {
      throw DataError(to_text("[metrics] \"", path, "\", line ", lines.size() + 1, ": ", error.what()));
    }
  }
  return lines;
}

}  // namespace lockstep::train
