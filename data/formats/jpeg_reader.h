// JPEG pictures, by libjpeg-turbo: baseline and progressive, grey, colour, CMYK and YCCK.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "data/formats/orientation.h"
#include "data/formats/resample.h"

namespace lockstep::data {

/// Decodes one picture. What libjpeg can only guess is an error: an end that is missing, codes that do not
/// exist, restart markers out of step. Extra bytes before a marker are not.
class JpegReader {
 public:
  /// Reads the header. `file` must outlive the reader. Throws BadSample naming the picture.
  JpegReader(std::span<const std::byte> file, const std::string& name);
  ~JpegReader();

  // Of the picture as it is stored.
  int64_t height() const;
  int64_t width() const;
  Orientation orientation() const;

  /// Decodes a part, once per reader: at 1/2, 1/4 or 1/8 of its size if it stays at least `size` x `size`,
  /// and little more than it of the rest. Grey pixels if the picture is grey or `channels` is 1, else RGB.
  /// CMYK values are inverted where an Adobe marker says so.
  void read(const Box& box, int64_t size, int64_t channels, Pixels& pixels);

 private:
  struct State;

  void check_end() const;
  void check_size() const;
  void choose_colors(int64_t channels, Pixels& pixels);
  void copy_row(const uint8_t* row, uint8_t* output, int64_t width, int64_t channels) const;
  [[noreturn]] void fail(const std::string& problem) const;

  std::string name_;
  std::span<const std::byte> file_;
  std::unique_ptr<State> state_;
};

}  // namespace lockstep::data
