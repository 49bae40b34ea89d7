// How numbers that JSON has none for are written.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

namespace lockstep::train {

/// A value that is not finite becomes the text "NaN", "Infinity" or "-Infinity".
inline nlohmann::ordered_json json_number(double value) {
  if (std::isfinite(value)) return value;
  if (std::isnan(value)) return "NaN";
  return value > 0 ? "Infinity" : "-Infinity";
}

}  // namespace lockstep::train
