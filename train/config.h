// Where a run's configuration comes from, and how it is shown. The fields and their defaults are in
// proto/train_config.proto; what they may hold is checked by config_check.h, --set is config_set.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "proto/train_config.pb.h"

namespace lockstep::train {

/// A configuration with every default of the schema set.
TrainConfig default_config();

/// Sets every field that is not set and has a default, so that the configuration no longer depends on the
/// schema's defaults. For configurations that an older build wrote.
void fill_defaults(TrainConfig& config);

/// The recipes of a folder (its *.textproto files), by name, in alphabetical order; none when there is no
/// such folder.
std::vector<std::string> recipe_names(const std::string& recipes_folder);

/// Reads a file, or the recipe of that name in `recipes_folder`; a name with a slash or ending in .textproto
/// is a file. Defaults are filled in, ranges are not checked. Throws ConfigError: an unknown name is answered
/// with the known recipes, a mistake in the text with file, line and column.
TrainConfig load_config(const std::string& recipe_or_file, const std::string& recipes_folder);

/// The same from text; `origin` names it in errors.
TrainConfig parse_config(const std::string& text, const std::string& origin);

/// Any message of a schema from text; `origin` names it in errors, which are ConfigErrors.
void parse_message(const std::string& text, const std::string& origin, google::protobuf::Message& message);

/// In the format that parse_config() reads, every field on a line of its own; equal configurations give equal
/// text.
std::string config_text(const TrainConfig& config);

/// The fields in which two configurations differ, in the order of the schema, a line for each:
/// "modified: optimizer.lr: 0.1 -> 0.2".
std::vector<std::string> differences(const TrainConfig& from, const TrainConfig& to);

/// A time of the configuration, which has them in seconds.
inline std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
}

}  // namespace lockstep::train
