// PNG pictures, by libpng: grey of 1 to 16 bits, colour, palette, with or without transparency, interlaced.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "data/formats/orientation.h"
#include "data/formats/resample.h"

namespace lockstep::data {

/// Decodes one picture. Values of 16 bits become 8 by value * 255 / 65535, rounded. Transparent pixels are
/// what they look like on black: value * alpha. Notes on gamma, colour profile and orientation are not
/// obeyed.
class PngReader {
 public:
  /// Reads the header. `file` must outlive the reader. Throws BadSample naming the picture.
  PngReader(std::span<const std::byte> file, const std::string& name);
  ~PngReader();

  int64_t height() const;
  int64_t width() const;
  Orientation orientation() const { return {}; }

  /// Decodes a part, once per reader. `size` is of no use here. Grey pixels if the picture is grey or
  /// `channels` is 1, else RGB.
  void read(const Box& box, int64_t size, int64_t channels, Pixels& pixels);

 private:
  struct State;

  void check_end() const;
  void check_size() const;
  void read_interlaced(const Box& box, int passes, Pixels& pixels);
  void read_rows(const Box& box, Pixels& pixels);
  void copy_row(const uint8_t* row, uint8_t* output, int64_t width, int64_t channels) const;
  [[noreturn]] void fail(const std::string& problem) const;

  std::string name_;
  std::span<const std::byte> file_;
  std::unique_ptr<State> state_;
};

}  // namespace lockstep::data
