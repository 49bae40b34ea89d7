#include "train/config_fields.h"

#include <sstream>

#include "train/config.h"

namespace lockstep::train {

std::vector<std::pair<std::string, std::string>> config_fields(const TrainConfig& config) {
  std::vector<std::pair<std::string, std::string>> fields;
  std::vector<std::string> groups;
  std::istringstream lines(config_text(config));
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, line.find_first_not_of(' '));
    if (line == "}") {
      groups.pop_back();
    } else if (line.ends_with(" {")) {
      groups.push_back(line.substr(0, line.size() - 2));
    } else {
      const size_t colon = line.find(": ");
      std::string name;
      for (const std::string& group : groups) name += group + '.';
      fields.emplace_back(name + line.substr(0, colon), line.substr(colon + 2));
    }
  }
  return fields;
}

}  // namespace lockstep::train
