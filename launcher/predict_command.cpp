#include "launcher/predict_command.h"

#include <iostream>
#include <nlohmann/json.hpp>

#include "launcher/exit_status.h"
#include "train/prediction.h"

namespace lockstep::launcher {
namespace {

nlohmann::ordered_json to_json(const train::Prediction& prediction) {
  nlohmann::ordered_json line{{"file", prediction.file}};
  if (!prediction.error.empty()) {
    line["error"] = prediction.error;
    return line;
  }
  line["top"] = nlohmann::ordered_json::array();
  for (const train::ClassProbability& likely : prediction.top) {
    nlohmann::ordered_json entry{{"class", likely.label}};
    if (!likely.name.empty()) entry["name"] = likely.name;
    entry["probability"] = likely.probability;
    line["top"].push_back(entry);
  }
  return line;
}

}  // namespace

int predict_command(const train::SavedModelOptions& options, const std::vector<std::string>& files,
                    int64_t top) {
  const train::SavedModel saved = train::load_saved_model(options, train::prediction_spec(options));
  int status = kDone;
  for (const train::Prediction& prediction : train::predict(saved, files, top)) {
    // A file name need not be UTF-8; JSON must.
    std::cout << to_json(prediction).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
    if (!prediction.error.empty()) status = kDataFault;
  }
  return status;
}

}  // namespace lockstep::launcher
