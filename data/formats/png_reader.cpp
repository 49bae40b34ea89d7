#include "data/formats/png_reader.h"

#include <png.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstring>
#include <vector>

#include "data/formats/colors.h"
#include "data/source.h"

namespace lockstep::data {

/// What libpng works on. It reports errors by calling back, and the callback must not return.
struct PngReader::State {
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::span<const std::byte> rest;  ///< of the file
  std::jmp_buf escape{};
  std::array<char, 200> message{};

  explicit State(std::span<const std::byte> file) : rest(file) {}
  ~State() { png_destroy_read_struct(&png, &info, nullptr); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// Runs calls into libpng, false once one of them fails. They are left by longjmp then: nothing in `calls`
  /// may need a destructor.
  template <class Calls>
  bool attempt(const Calls& calls) {
    if (setjmp(escape) != 0) return false;
    calls();
    return true;
  }

  [[noreturn]] static void escape_with(png_structp png, png_const_charp text) {
    auto* state = static_cast<State*>(png_get_error_ptr(png));
    std::strncpy(state->message.data(), text, state->message.size() - 1);
    std::longjmp(state->escape, 1);
  }

  static void give(png_structp png, png_bytep target, size_t count) {
    auto* state = static_cast<State*>(png_get_io_ptr(png));
    if (count > state->rest.size()) png_error(png, "cut short");
    std::memcpy(target, state->rest.data(), count);
    state->rest = state->rest.subspan(count);
  }

  /// Whatever the file holds, rows arrive as 8-bit grey or RGB, each with or without alpha.
  void read_header() {
    png =
        png_create_read_struct(PNG_LIBPNG_VER_STRING, this, escape_with, [](png_structp, png_const_charp) {});
    if (png != nullptr) info = png_create_info_struct(png);
    if (info == nullptr) std::longjmp(escape, 1);
    png_set_read_fn(png, this, give);
    png_read_info(png, info);
    png_set_expand(png);
    png_set_scale_16(png);
  }
};

PngReader::PngReader(std::span<const std::byte> file, const std::string& name)
    : name_(name), file_(file), state_(std::make_unique<State>(file)) {
  if (!state_->attempt([this] { state_->read_header(); })) fail(state_->message.data());
  check_end();
}

PngReader::~PngReader() = default;

int64_t PngReader::height() const {
  return png_get_image_height(state_->png, state_->info);
}

int64_t PngReader::width() const {
  return png_get_image_width(state_->png, state_->info);
}

/// A file that was cut is refused whichever part of it is asked for.
void PngReader::check_end() const {
  constexpr std::array<unsigned char, 8> kEnd{'I', 'E', 'N', 'D', 0xae, 0x42, 0x60, 0x82};
  const auto bytes = std::as_bytes(std::span(kEnd));
  const auto data = state_->rest;
  if (std::search(data.rbegin(), data.rend(), bytes.rbegin(), bytes.rend()) == data.rend())
    fail("cut short: no end chunk");
}

/// An interlaced picture is read as a whole. Deflate turns a byte into 1032 at most (zlib's technical
/// details).
void PngReader::check_size() const {
  constexpr int64_t kGreatestRatio = 1032;
  const int64_t bits =
      png_get_bit_depth(state_->png, state_->info) * png_get_channels(state_->png, state_->info);
  if (height() * width() * bits / 8 / kGreatestRatio > static_cast<int64_t>(file_.size()))
    fail(to_text(width(), " x ", height(), " pixels are more than it can hold"));
}

void PngReader::read(const Box& box, int64_t /*size*/, int64_t channels, Pixels& pixels) {
  check_size();
  png_structp png = state_->png;
  int passes = 0;
  const bool ready = state_->attempt([&] {
    passes = png_set_interlace_handling(png);
    png_read_update_info(png, state_->info);
  });
  if (!ready) fail(state_->message.data());
  const bool colored = (png_get_color_type(png, state_->info) & PNG_COLOR_MASK_COLOR) != 0;
  pixels.channels = colored ? channels : 1;
  pixels.height = box.height;
  pixels.width = box.width;
  pixels.values.resize(static_cast<size_t>(box.height * box.width * pixels.channels));
  pixels.top = 0;
  pixels.left = 0;
  pixels.part_height = static_cast<double>(box.height);
  pixels.part_width = static_cast<double>(box.width);
  passes > 1 ? read_interlaced(box, passes, pixels) : read_rows(box, pixels);
}

void PngReader::read_rows(const Box& box, Pixels& pixels) {
  png_structp png = state_->png;
  std::vector<uint8_t> row(png_get_rowbytes(png, state_->info));
  const uint8_t* first = row.data() + box.left * png_get_channels(png, state_->info);
  const bool done = state_->attempt([&] {
    for (int64_t y = 0; y < box.top + box.height; ++y) {
      png_read_row(png, row.data(), nullptr);
      if (y >= box.top) copy_row(first, pixels.row(y - box.top), box.width, pixels.channels);
    }
  });
  if (!done) fail(state_->message.data());
}

/// Every pass adds pixels all over the picture.
void PngReader::read_interlaced(const Box& box, int passes, Pixels& pixels) {
  png_structp png = state_->png;
  const size_t row_bytes = png_get_rowbytes(png, state_->info);
  const auto rows = static_cast<size_t>(height());
  std::vector<uint8_t> picture(rows * row_bytes);
  const bool done = state_->attempt([&] {
    for (int pass = 0; pass < passes; ++pass) {
      for (size_t y = 0; y < rows; ++y) png_read_row(png, picture.data() + y * row_bytes, nullptr);
    }
  });
  if (!done) fail(state_->message.data());
  const auto pixel_bytes = static_cast<int64_t>(png_get_channels(png, state_->info));
  for (int64_t y = 0; y < box.height; ++y) {
    const uint8_t* row = picture.data() + static_cast<size_t>(box.top + y) * row_bytes;
    copy_row(row + box.left * pixel_bytes, pixels.row(y), box.width, pixels.channels);
  }
}

void PngReader::copy_row(const uint8_t* row, uint8_t* output, int64_t width, int64_t channels) const {
  const int stored = png_get_channels(state_->png, state_->info);
  const int colors = stored < 3 ? 1 : 3;
  for (int64_t x = 0; x < width; ++x, row += stored, output += channels) {
    const uint8_t alpha = stored > colors ? row[colors] : 255;
    if (channels == colors) {
      for (int64_t color = 0; color < channels; ++color) output[color] = product(row[color], alpha);
    } else {
      output[0] = product(luma(row[0], row[1], row[2]), alpha);
    }
  }
}

void PngReader::fail(const std::string& problem) const {
  throw BadSample(to_text("[picture] ", name_, ": PNG of ", file_.size(), " bytes: ", problem));
}

}  // namespace lockstep::data
