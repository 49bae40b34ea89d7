// Errors of every layer. Text: "[operation] what is wrong: expected X, got Y; hint". The rank is added once,
// by main.
#pragma once

#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace lockstep {

class Error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The caller passed something that the operation does not accept.
class InvalidArgument : public Error {
  using Error::Error;
};

/// A field of the configuration or a command-line argument is wrong; the text names it, its value and what is
/// allowed.
class ConfigError : public Error {
  using Error::Error;
};

/// A data file is unreadable, damaged or inconsistent; the text names file and offset or sample.
class DataError : public Error {
  using Error::Error;
};

/// A device is missing, out of memory or failed.
class DeviceError : public Error {
  using Error::Error;
};

/// A peer is missing, late or at another call; the text names peer, operation, step and deadline. The
/// communicator that threw it is dead: every later call on it throws too.
class CommError : public Error {
  using Error::Error;
};

/// Joins the parts as a stream would.
template <class... Parts>
std::string to_text(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

/// An operation's name together with the place that named it.
struct Where {
  // NOLINTNEXTLINE(google-explicit-constructor): a literal at the call site becomes a Where.
  Where(const char* name, const char* source_file = __builtin_FILE(), int source_line = __builtin_LINE())
      : operation(name), file(source_file), line(source_line) {}
  const char* operation;
  const char* file;
  int line;
};

/// Throws an E saying "[operation] parts..." unless the condition holds.
template <class E = InvalidArgument, class... Parts>
void check(bool condition, const Where& where, const Parts&... parts) {
  if (!condition) [[unlikely]]
    throw E(to_text("[", where.operation, "] ", parts...));
}

/// For our own bugs: the text also carries file and line.
template <class... Parts>
void ensure(bool condition, const Where& where, const Parts&... parts) {
  if (!condition) [[unlikely]] {
    throw Error(to_text("[", where.operation, "] internal error: ", parts..., " (", where.file, ":",
                        where.line, "); please report this"));
  }
}

}  // namespace lockstep
