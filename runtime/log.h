// Lines for people, on standard error, each starting with the rank where there are several.
#pragma once

#include <string>

#include "runtime/error.h"

namespace lockstep::log {

enum class Level { kDebug, kInfo, kWarning, kError };

/// Lines below `level` are dropped. `prefix` ("rank 3: ") starts every line of the calling thread and of
/// those it starts.
void configure(Level level, const std::string& prefix);
/// The prefix of the calling thread; start_thread() hands it on.
const std::string& thread_prefix();
void set_thread_prefix(const std::string& prefix);
/// Copies every line to a file as well; throws Error naming the file when it cannot be opened.
void add_file(const std::string& path);

void write(Level level, const std::string& text);

template <class... Parts>
void info(const Parts&... parts) {
  write(Level::kInfo, to_text(parts...));
}
template <class... Parts>
void warning(const Parts&... parts) {
  write(Level::kWarning, to_text(parts...));
}
template <class... Parts>
void error(const Parts&... parts) {
  write(Level::kError, to_text(parts...));
}

}  // namespace lockstep::log
