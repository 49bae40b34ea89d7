#include "launcher/text_table.h"

#include <algorithm>
#include <cstdio>

namespace lockstep::launcher {

std::string text_table(const std::vector<Cells>& lines) {
  std::string text;
  for (size_t l = 0; l < lines.size(); ++l) {
    std::string rule = "|";
    for (size_t column = 0; column < lines[l].size(); ++column) {
      size_t width = 0;
      for (const Cells& line : lines) width = std::max(width, line[column].size());
      const std::string& cell = lines[l][column];
      text += "| " + std::string(width - cell.size(), ' ') + cell + ' ';
      rule += std::string(width + 1, '-') + ":|";
    }
    text += "|\n";
    if (l == 0) text += rule + '\n';
  }
  return text;
}

std::string formatted(const char* pattern, double value) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}

}  // namespace lockstep::launcher
