#include "tests/data/pictures.h"

#include <cstdio>

#include <jpeglib.h>
#include <png.h>

#include <cstdlib>
#include <cstring>

namespace lockstep::data {
namespace {

constexpr int kApp1 = JPEG_APP0 + 1;

void choose_jpeg_colors(jpeg_compress_struct& info, const JpegOptions& options) {
  jpeg_set_defaults(&info);
  if (options.keep_rgb) jpeg_set_colorspace(&info, JCS_RGB);
  if (options.ycck) jpeg_set_colorspace(&info, JCS_YCCK);
  if (info.num_components == 4) info.write_Adobe_marker = options.adobe_marker ? TRUE : FALSE;
  if (info.num_components >= 3) {
    info.comp_info[0].h_samp_factor = options.chroma_reduction;
    info.comp_info[0].v_samp_factor = options.chroma_reduction;
  }
  if (info.num_components == 4) {
    info.comp_info[3].h_samp_factor = options.chroma_reduction;
    info.comp_info[3].v_samp_factor = options.chroma_reduction;
  }
}

int png_type(const Raster& raster, const PngOptions& options) {
  if (!options.palette.empty()) return PNG_COLOR_TYPE_PALETTE;
  switch (options.bits == 16 ? raster.channels / 2 : raster.channels) {
    case 1:
      return PNG_COLOR_TYPE_GRAY;
    case 2:
      return PNG_COLOR_TYPE_GRAY_ALPHA;
    case 3:
      return PNG_COLOR_TYPE_RGB;
    default:
      return PNG_COLOR_TYPE_RGB_ALPHA;
  }
}

void append(png_structp png, png_bytep bytes, size_t count) {
  static_cast<Bytes*>(png_get_io_ptr(png))->append(reinterpret_cast<const char*>(bytes), count);
}

void set_palette(png_structp png, png_infop info, const PngOptions& options) {
  std::vector<png_color> colors(options.palette.size() / 3);
  std::memcpy(colors.data(), options.palette.data(), options.palette.size());
  png_set_PLTE(png, info, colors.data(), static_cast<int>(colors.size()));
  if (options.palette_alpha.empty()) return;
  png_set_tRNS(png, info, options.palette_alpha.data(), static_cast<int>(options.palette_alpha.size()),
               nullptr);
}

}  // namespace

Raster make_raster(int64_t height, int64_t width, int64_t channels,
                   const std::function<int(int64_t, int64_t, int64_t)>& value) {
  Raster raster{height, width, channels};
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      for (int64_t channel = 0; channel < channels; ++channel) {
        raster.values.push_back(static_cast<uint8_t>(value(y, x, channel)));
      }
    }
  }
  return raster;
}

Raster landscape(int64_t height, int64_t width, int64_t channels) {
  return make_raster(height, width, channels, [](int64_t y, int64_t x, int64_t channel) {
    return static_cast<int>(128 + (5 * y + 3 * x * (channel + 1)) % 97 - (y * x + channel) % 31);
  });
}

Raster solid(int64_t height, int64_t width, const std::vector<uint8_t>& color) {
  return make_raster(
      height, width, static_cast<int64_t>(color.size()),
      [&](int64_t /*y*/, int64_t /*x*/, int64_t channel) { return color[static_cast<size_t>(channel)]; });
}

Bytes encode_jpeg(const Raster& raster, const JpegOptions& options) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &bytes, &size);
  info.image_height = static_cast<JDIMENSION>(raster.height);
  info.image_width = static_cast<JDIMENSION>(raster.width);
  info.input_components = static_cast<int>(raster.channels);
  info.in_color_space = raster.channels == 1 ? JCS_GRAYSCALE : raster.channels == 3 ? JCS_RGB : JCS_CMYK;
  choose_jpeg_colors(info, options);
  jpeg_set_quality(&info, options.quality, TRUE);
  if (options.progressive) jpeg_simple_progression(&info);
  info.restart_interval = static_cast<unsigned>(options.restart_interval);
  jpeg_start_compress(&info, TRUE);
  if (!options.app1.empty()) {
    jpeg_write_marker(&info, kApp1, reinterpret_cast<const JOCTET*>(options.app1.data()),
                      static_cast<unsigned>(options.app1.size()));
  }
  for (int64_t y = 0; y < raster.height; ++y) {
    auto* row = const_cast<uint8_t*>(raster.values.data() + y * raster.width * raster.channels);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  Bytes result(reinterpret_cast<const char*>(bytes), size);
  jpeg_destroy_compress(&info);
  std::free(bytes);
  return result;
}

Raster decode_whole_jpeg(const Bytes& file, int channels, int reduction) {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(file.data()), file.size());
  jpeg_read_header(&info, TRUE);
  info.out_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  info.scale_num = 1;
  info.scale_denom = static_cast<unsigned>(reduction);
  jpeg_start_decompress(&info);
  Raster raster{info.output_height, info.output_width, channels};
  raster.values.resize(static_cast<size_t>(raster.height * raster.width * channels));
  while (info.output_scanline < info.output_height) {
    uint8_t* row = raster.values.data() + info.output_scanline * raster.width * channels;
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_destroy_decompress(&info);
  return raster;
}

Bytes exif_orientation(int value, bool little_endian) {
  const char number = static_cast<char>(value);
  const Bytes name("Exif\0\0", 6);
  if (little_endian) {
    return name + Bytes("II\x2a\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0", 18) + number +
           Bytes("\0\0\0\0\0\0\0", 7);
  }
  return name + Bytes("MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0", 19) + number +
         Bytes("\0\0\0\0\0\0", 6);
}

Bytes encode_png(const Raster& raster, const PngOptions& options) {
  Bytes result;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(png, &result, append, nullptr);
  png_set_IHDR(png, info, static_cast<unsigned>(raster.width), static_cast<unsigned>(raster.height),
               options.bits, png_type(raster, options),
               options.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  if (!options.palette.empty()) set_palette(png, info, options);
  png_write_info(png, info);
  png_set_packing(png);
  const int passes = png_set_interlace_handling(png);
  for (int pass = 0; pass < passes; ++pass) {
    for (int64_t y = 0; y < raster.height; ++y) {
      png_write_row(png, raster.values.data() + y * raster.width * raster.channels);
    }
  }
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return result;
}

}  // namespace lockstep::data
