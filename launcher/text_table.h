// Tables for terminals that are Markdown as well.
#pragma once

#include <string>
#include <vector>

namespace lockstep::launcher {

using Cells = std::vector<std::string>;

/// Markdown with columns of equal width, their text at the right. The first line is the heading; all have as
/// many cells.
std::string text_table(const std::vector<Cells>& lines);

/// printf's, of one number.
std::string formatted(const char* pattern, double value);

}  // namespace lockstep::launcher
