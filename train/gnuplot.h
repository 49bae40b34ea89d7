// What pictures drawn by gnuplot have in common. They are extras: where it is missing, nothing else is.
#pragma once

#include <chrono>
#include <string>

namespace lockstep::train {

struct GnuplotOptions {
  std::string program = "gnuplot";  ///< looked up in PATH
  /// A drawing that takes longer is given up.
  std::chrono::milliseconds deadline = std::chrono::seconds(30);
};

/// A text in double quotes, on one line.
std::string gnuplot_text(const std::string& text);

/// Commands that set the looks. Line style 1 is blue, 2 red with dots, 3 the blue's shade for areas.
const char* gnuplot_style();

/// Opens the loop `do for` that draws twice: <name>.svg of this size in pixels and <name>.png of half as much
/// again. What is to be drawn follows, then kGnuplotEnd.
std::string gnuplot_begin(const std::string& name, int width, int height);
inline constexpr const char* kGnuplotEnd = "unset output\n}\n";

/// Writes the commands to <name>.gnuplot in the folder and lets gnuplot run them there. Returns what went
/// wrong, in a few words; "" when all was drawn. Throws FileError when it cannot write.
std::string draw(const std::string& folder, const std::string& name, const std::string& commands,
                 const GnuplotOptions& options);

}  // namespace lockstep::train
