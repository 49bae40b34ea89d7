#include "train/gnuplot.h"

#include "runtime/error.h"
#include "train/child_process.h"
#include "train/files.h"

namespace lockstep::train {

std::string gnuplot_text(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result + '"';
}

const char* gnuplot_style() {
  return R"(set encoding utf8
set style line 1 linecolor rgb "#4477aa" linewidth 1.5
set style line 2 linecolor rgb "#ee6677" linewidth 1.5 pointtype 7 pointsize 0.7
set style line 3 linecolor rgb "#cddbe9"
set style fill solid noborder
set border 3 linecolor rgb "#555555"
set tics nomirror out scale 0.5
set grid ytics back linetype 1 linecolor rgb "#e4e4e4" linewidth 0.7
set key samplen 2 spacing 1.1 noenhanced
)";
}

std::string gnuplot_begin(const std::string& name, int width, int height) {
  return to_text("do for [kind in \"svg png\"] {\n", "if (kind eq \"svg\") { set terminal svg size ", width,
                 ",", height, " font \"sans,14\" background \"white\" }\n",
                 "if (kind eq \"png\") { set terminal pngcairo size ", width * 3 / 2, ",", height * 3 / 2,
                 " font \"sans,14\" fontscale 1.1 linewidth 1.5 }\n", "set output \"", name, ".\".kind\n");
}

std::string draw(const std::string& folder, const std::string& name, const std::string& commands,
                 const GnuplotOptions& options) {
  const std::string file = name + ".gnuplot";
  replace_file(folder + "/" + file, [&](FileWriter& writer) { writer.append(commands); });
  const ChildOutcome outcome =
      run_child({options.program, file}, {.folder = folder, .deadline = options.deadline});
  return outcome.succeeded ? "" : to_text(options.program, ": ", outcome.problem);
}

}  // namespace lockstep::train
