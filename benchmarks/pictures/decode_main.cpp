// Pictures per second on one core: libjpeg-turbo's plain decoding of the whole picture, and the whole way
// from the file's bytes to a sample, with everything that training and evaluation do before augmentation.
//   decode [SECONDS PER ROW]
#include <cstdio>
#include <ctime>
#include <string>

#include "data/formats/picture.h"
#include "runtime/rng.h"
#include "tests/data/pictures.h"

namespace {

using namespace lockstep::data;

/// As a photograph: large forms, small ones, and noise, which makes up most of a JPEG file.
Raster photograph(int64_t height, int64_t width, int64_t channels) {
  const lockstep::RandomStream random(1, lockstep::Purpose::kTest, 0, 0);
  uint64_t position = 0;
  return make_raster(height, width, channels, [&](int64_t y, int64_t x, int64_t channel) {
    const int64_t form = (x * x / 300 + y * y / 200 + 40 * channel) % 160;
    return static_cast<int>(48 + form + random.below(position++, 24));
  });
}

/// Of processor time, so that other programs disturb less.
template <class Work>
double per_second(double seconds, const Work& work) {
  work(0);
  const std::clock_t start = std::clock();
  double taken = 0;
  int64_t count = 0;
  do {
    for (int i = 0; i < 10; ++i) work(++count);
    taken = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  } while (taken < seconds);
  return static_cast<double>(count) / taken;
}

void measure(const char* name, const Bytes& file, const PictureShape& shape, double seconds) {
  const double whole =
      per_second(seconds, [&](int64_t) { decode_whole_jpeg(file, static_cast<int>(shape.channels)); });
  std::vector<uint8_t> sample(static_cast<size_t>(shape.channels * shape.size * shape.size));
  const auto sampled = [&](bool random) {
    return per_second(seconds, [&](int64_t i) {
      const Framing framing{{.random = random}, 1, 0, i};
      decode_picture(std::as_bytes(std::span(file)), name, framing, shape, sample.data());
    });
  };
  std::printf("| %s, %zu bytes, to %lld x %lld | %.0f | %.0f | %.0f |\n", name, file.size(),
              static_cast<long long>(shape.size), static_cast<long long>(shape.size), whole, sampled(true),
              sampled(false));
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::stod(argv[1]) : 2;
  std::puts("| pictures/s on one core | libjpeg-turbo, whole | random part | middle |");
  std::puts("|---|---|---|---|");
  const Bytes photo = encode_jpeg(photograph(375, 500, 3), {.quality = 90, .chroma_reduction = 2});
  const Bytes progressive =
      encode_jpeg(photograph(375, 500, 3), {.quality = 90, .progressive = true, .chroma_reduction = 2});
  const Bytes large = encode_jpeg(photograph(1200, 1600, 3), {.quality = 90, .chroma_reduction = 2});
  measure("500 x 375", photo, {3, 224}, seconds);
  measure("500 x 375, progressive", progressive, {3, 224}, seconds);
  measure("1600 x 1200", large, {3, 224}, seconds);
  measure("28 x 28, grey", encode_jpeg(photograph(28, 28, 1)), {1, 28}, seconds);
  return 0;
}
