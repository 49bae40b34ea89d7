// A fuzz target: a parser of files from outside, which gets damaged ones until it gives in. A target may end
// normally or throw lockstep::Error. Anything else is a fault: another exception, a crash, a sanitizer's
// report, more than a second, more memory than kMostMemory.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace lockstep::fuzz {

using Bytes = std::string;

/// No input is longer: what takes long or much memory then does so for a small file.
inline constexpr size_t kLongestInput = size_t{32} << 10;
/// By which a process may grow.
inline constexpr size_t kMostMemory = size_t{256} << 20;

struct Target {
  /// Reads the input as the product would read such a file.
  void (*parse)(const Bytes& input);
  /// Sound files, small and of every kind that the parser knows: all inputs are made of them.
  std::vector<Bytes> (*seeds)();
  /// Makes checksums and lengths right again, which would stop every damaged file at the door. None: there
  /// are no such things in the format.
  Bytes (*repair)(const Bytes& input) = nullptr;
  /// What a text is made of, to be put in anywhere.
  std::vector<Bytes> words = {};
};

/// Every x_fuzz.cpp defines it.
extern const Target kTarget;

/// What became of an input: "" when it was read, otherwise "refused: " and the words of the error's text,
/// without what differs from file to file. Lets other exceptions through.
Bytes outcome_of(const Bytes& input);

/// An input can be several files, with `separator` between them. Gives `count` parts, missing ones are empty.
std::vector<Bytes> split_files(const Bytes& input, size_t count);
Bytes join_files(const std::vector<Bytes>& files);

/// `value` in `nbytes` bytes.
Bytes little_endian(uint64_t value, size_t nbytes);
Bytes big_endian(uint64_t value, size_t nbytes);

/// A folder in memory, if there is room for one, otherwise on disk; removed by the process that asked first.
const std::string& scratch_folder();
/// Replaces the file of that name in it and returns its path.
std::string write_scratch(const std::string& name, const Bytes& content);

}  // namespace lockstep::fuzz
