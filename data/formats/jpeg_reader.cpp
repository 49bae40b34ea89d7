#include "data/formats/jpeg_reader.h"

// jpeglib.h needs size_t and FILE.
#include <cstdio>

#include <jerror.h>
#include <jpeglib.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstring>
#include <vector>

#include "data/formats/colors.h"
#include "data/source.h"

namespace lockstep::data {
namespace {

/// Pixels decoded beside the part: chroma is interpolated from neighbours, and libjpeg-turbo wants a few to
/// interpolate between.
constexpr int64_t kMargin = 8;
constexpr int kExifMarker = JPEG_APP0 + 1;
constexpr unsigned kLongestSegment = 0xffff;

/// Warnings after which libjpeg makes up pixels.
constexpr std::array kFatalWarnings{JWRN_JPEG_EOF, JWRN_HIT_MARKER, JWRN_HUFF_BAD_CODE, JWRN_MUST_RESYNC};

/// A range of pixels that a fraction of a range touches.
struct Range {
  int64_t first;
  int64_t count;
};

Range touched(int64_t begin, int64_t length, int64_t reduction) {
  const int64_t first = begin / reduction;
  return {first, (begin + length + reduction - 1) / reduction - first};
}

int64_t choose_reduction(const Box& box, int64_t size) {
  int64_t reduction = 8;
  while (reduction > 1 && std::min(box.height, box.width) < size * reduction) reduction /= 2;
  return reduction;
}

}  // namespace

/// What libjpeg works on. It reports errors by calling back, and the callback must not return.
struct JpegReader::State {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  std::jmp_buf escape{};
  std::array<char, JMSG_LENGTH_MAX> message{};

  State() {
    info.err = jpeg_std_error(&errors);
    info.client_data = this;
    errors.error_exit = [](j_common_ptr common) {
      auto* state = static_cast<State*>(common->client_data);
      state->errors.format_message(common, state->message.data());
      std::longjmp(state->escape, 1);
    };
    errors.emit_message = [](j_common_ptr common, int level) {
      const bool is_warning = level < 0;
      const int code = common->err->msg_code;
      if (is_warning && std::find(kFatalWarnings.begin(), kFatalWarnings.end(), code) != kFatalWarnings.end())
        common->err->error_exit(common);
    };
  }
  ~State() { jpeg_destroy_decompress(&info); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// Runs calls into libjpeg, false once one of them fails. They are left by longjmp then: nothing in `calls`
  /// may need a destructor.
  template <class Calls>
  bool attempt(const Calls& calls) {
    if (setjmp(escape) != 0) return false;
    calls();
    return true;
  }
};

JpegReader::JpegReader(std::span<const std::byte> file, const std::string& name)
    : name_(name), file_(file), state_(std::make_unique<State>()) {
  jpeg_decompress_struct& info = state_->info;
  const bool read = state_->attempt([&] {
    jpeg_create_decompress(&info);
    jpeg_save_markers(&info, kExifMarker, kLongestSegment);
    jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(file_.data()), file_.size());
    jpeg_read_header(&info, TRUE);
  });
  if (!read) fail(state_->message.data());
  check_end();
}

JpegReader::~JpegReader() = default;

int64_t JpegReader::height() const {
  return state_->info.image_height;
}

int64_t JpegReader::width() const {
  return state_->info.image_width;
}

Orientation JpegReader::orientation() const {
  for (const jpeg_marker_struct* marker = state_->info.marker_list; marker != nullptr;
       marker = marker->next) {
    const Orientation orientation =
        read_orientation(std::as_bytes(std::span(marker->data, marker->data_length)));
    if (orientation != Orientation{}) return orientation;
  }
  return {};
}

/// A file that was cut is refused whichever part of it is asked for. Compressed data holds no end marker, so
/// the search, which almost always ends where it starts, goes no further than its beginning.
void JpegReader::check_end() const {
  constexpr std::array kEndMarker{std::byte{0xff}, std::byte{JPEG_EOI}};
  const auto data = file_.last(state_->info.src->bytes_in_buffer);
  const auto end = std::search(data.rbegin(), data.rend(), kEndMarker.rbegin(), kEndMarker.rend());
  if (end == data.rend()) fail("cut short: no end marker");
}

/// libjpeg gets memory for all pixels of a progressive picture before it looks for them. A block of 64 takes
/// a bit at least, and there are blocks for half of the pixels at least, whatever the components' sizes are.
void JpegReader::check_size() const {
  constexpr int64_t kMostPixelsInByte = 1024;
  if (height() * width() / kMostPixelsInByte > static_cast<int64_t>(file_.size()))
    fail(to_text(width(), " x ", height(), " pixels are more than it can hold"));
}

void JpegReader::read(const Box& box, int64_t size, int64_t channels, Pixels& pixels) {
  check_size();
  jpeg_decompress_struct& info = state_->info;
  const int64_t reduction = choose_reduction(box, size);
  const Range rows = touched(box.top, box.height, reduction);
  const Range columns = touched(box.left, box.width, reduction);
  choose_colors(channels, pixels);
  pixels.height = rows.count;
  pixels.width = columns.count;
  pixels.values.resize(static_cast<size_t>(rows.count * columns.count * pixels.channels));
  const auto scale = static_cast<double>(reduction);
  pixels.top = static_cast<double>(box.top) / scale - static_cast<double>(rows.first);
  pixels.left = static_cast<double>(box.left) / scale - static_cast<double>(columns.first);
  pixels.part_height = static_cast<double>(box.height) / scale;
  pixels.part_width = static_cast<double>(box.width) / scale;

  info.scale_num = 1;
  info.scale_denom = static_cast<unsigned>(reduction);
  auto first_column = static_cast<JDIMENSION>(std::max<int64_t>(0, columns.first - kMargin));
  const bool started = state_->attempt([&] {
    jpeg_start_decompress(&info);
    auto wanted = static_cast<JDIMENSION>(
        std::min<int64_t>(info.output_width, columns.first + columns.count + kMargin));
    wanted -= first_column;
    jpeg_crop_scanline(&info, &first_column, &wanted);  // both become what fits whole blocks
    jpeg_skip_scanlines(&info, static_cast<JDIMENSION>(rows.first));
  });
  if (!started) fail(state_->message.data());

  std::vector<uint8_t> row(static_cast<size_t>(info.output_width) *
                           static_cast<size_t>(info.output_components));
  const uint8_t* first = row.data() + (columns.first - first_column) * info.output_components;
  const bool done = state_->attempt([&] {
    JSAMPROW target = row.data();
    for (int64_t y = 0; y < rows.count; ++y) {
      jpeg_read_scanlines(&info, &target, 1);
      copy_row(first, pixels.row(y), pixels.width, pixels.channels);
    }
  });
  if (!done) fail(state_->message.data());
}

void JpegReader::choose_colors(int64_t channels, Pixels& pixels) {
  jpeg_decompress_struct& info = state_->info;
  switch (info.jpeg_color_space) {
    case JCS_GRAYSCALE:
      info.out_color_space = JCS_GRAYSCALE;
      break;
    case JCS_RGB:
    case JCS_YCbCr:
      info.out_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
      break;
    case JCS_CMYK:
    case JCS_YCCK:
      info.out_color_space = JCS_CMYK;
      break;
    default:
      fail(to_text("its ", info.num_components, " components are in no colour space that is known here"));
  }
  pixels.channels = info.out_color_space == JCS_GRAYSCALE ? 1 : channels;
}

void JpegReader::copy_row(const uint8_t* row, uint8_t* output, int64_t width, int64_t channels) const {
  const jpeg_decompress_struct& info = state_->info;
  if (info.out_color_space != JCS_CMYK) {
    std::memcpy(output, row, static_cast<size_t>(width * channels));
    return;
  }
  const uint8_t inverted = info.saw_Adobe_marker != 0 ? 0 : 255;
  for (int64_t x = 0; x < width; ++x, row += 4, output += channels) {
    const auto light = [&](int ink) { return static_cast<uint8_t>(row[ink] ^ inverted); };
    const uint8_t red = product(light(0), light(3));
    const uint8_t green = product(light(1), light(3));
    const uint8_t blue = product(light(2), light(3));
    if (channels == 1) {
      output[0] = luma(red, green, blue);
    } else {
      output[0] = red;
      output[1] = green;
      output[2] = blue;
    }
  }
}

void JpegReader::fail(const std::string& problem) const {
  throw BadSample(to_text("[picture] ", name_, ": JPEG of ", file_.size(), " bytes: ", problem));
}

}  // namespace lockstep::data
