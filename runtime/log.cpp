#include "runtime/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/dist_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <unistd.h>

#include <memory>

namespace lockstep::log {

namespace {

/// Sinks can be added while other threads write.
std::shared_ptr<spdlog::sinks::dist_sink_mt>& sinks() {
  static auto& instance = *new auto(std::make_shared<spdlog::sinks::dist_sink_mt>());
  return instance;
}

spdlog::logger* make_logger() {
  auto terminal = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
  // On a terminal a line may come while a progress bar stands there: it takes the bar's place.
  terminal->set_pattern(isatty(STDERR_FILENO) == 1 ? "\r\033[K%v" : "%v");
  sinks()->add_sink(std::move(terminal));
  auto* logger = new spdlog::logger("lockstep", sinks());
  logger->flush_on(spdlog::level::trace);
  return logger;
}

/// Never destroyed: threads may write until the process ends.
spdlog::logger& logger() {
  static spdlog::logger& instance = *make_logger();
  return instance;
}

std::string& prefix_of_this_thread() {
  thread_local std::string prefix;
  return prefix;
}

struct LevelTraits {
  spdlog::level::level_enum level;
  const char* label;
};

LevelTraits traits_of(Level level) {
  switch (level) {
    case Level::kDebug:
      return {spdlog::level::debug, "debug: "};
    case Level::kInfo:
      return {spdlog::level::info, ""};
    case Level::kWarning:
      return {spdlog::level::warn, "warning: "};
    case Level::kError:
      break;
  }
  return {spdlog::level::err, "error: "};
}

}  // namespace

void configure(Level level, const std::string& prefix) {
  logger().set_level(traits_of(level).level);
  set_thread_prefix(prefix);
}

const std::string& thread_prefix() {
  return prefix_of_this_thread();
}

void set_thread_prefix(const std::string& prefix) {
  prefix_of_this_thread() = prefix;
}

void add_file(const std::string& path) {
  try {
    auto file = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path);
    file->set_pattern("%Y-%m-%d %H:%M:%S.%e %v");
    logger();  // the terminal comes first
    sinks()->add_sink(std::move(file));
  } catch (const spdlog::spdlog_ex& failure) {
    throw Error(to_text("[log] cannot open ", path, ": ", failure.what()));
  }
}

void write(Level level, const std::string& text) {
  const LevelTraits traits = traits_of(level);
  const std::string& prefix = thread_prefix();
  std::string lines = prefix + traits.label;
  for (const char character : text) {
    lines += character;
    if (character == '\n') lines += prefix;
  }
  logger().log(traits.level, lines);
}

}  // namespace lockstep::log
