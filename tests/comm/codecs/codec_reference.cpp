#include "tests/comm/codecs/codec_reference.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "runtime/error.h"
#include "runtime/rng.h"

namespace lockstep::comm::test {
namespace {

constexpr int64_t kBlock = 1024;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// To `bits` significant bits, but no finer than 2^least; to nearest even.
float nearest(float value, int bits, int least) {
  if (std::isnan(value)) {
    const uint32_t kept = ~((1U << (24 - bits)) - 1);
    return std::bit_cast<float>((std::bit_cast<uint32_t>(value) | 0x00400000U) & kept);
  }
  if (value == 0 || std::isinf(value)) return value;
  const int spacing = std::max(std::ilogb(static_cast<double>(value)) - (bits - 1), least);
  const double rounded =
      std::ldexp(std::nearbyint(std::ldexp(static_cast<double>(value), -spacing)), spacing);
  return std::abs(rounded) >= 0x1p128 ? std::copysign(kInfinity, value)
                                      : std::copysign(static_cast<float>(rounded), value);
}

std::vector<float> random_bits(uint64_t seed, int64_t count) {
  const RandomStream stream(seed, Purpose::kTest, 0, 0);
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(std::bit_cast<float>(stream.bits(i)));
  return values;
}

std::vector<float> normals(uint64_t seed, int64_t count, double scale) {
  const RandomStream stream(seed, Purpose::kTest, 0, 1);
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(stream.normal(i) * scale));
  return values;
}

std::vector<float> specials() {
  constexpr float kMax = std::numeric_limits<float>::max();
  std::vector<float> values{0.0F, 0x1p-149F, 0x1p-127F, 0x1.8p-127F, 0x1p-126F, 0x1.8p-126F, 0x1p-125F, 1.0F};
  for (const int exponent : {-126, -87, -86, -85, -40, -25, -24, 0, 15, 126, 127}) {
    const float one = std::ldexp(1.0F, exponent);
    // Ties of both codecs, to below and above, and what carries into the next binade.
    for (const float factor :
         {0x1.001p0F, 0x1.002p0F, 0x1.006p0F, 0x1.01p0F, 0x1.03p0F, 0x1.ffep0F, 0x1.fffp0F, 0x1.ffcp0F,
          0x1.ffdffep0F, 0x1.ffefffep0F, 0x1.fep0F, 0x1.ffp0F, 0x1.fefffep0F}) {
      values.push_back(one * factor);
    }
  }
  values.insert(values.end(), {kMax, std::nextafter(0x1.ffep127F, 0.0F), kInfinity,
                               std::bit_cast<float>(0x7f800001U), std::bit_cast<float>(0x7fc12345U)});
  for (size_t i = 0, count = values.size(); i < count; ++i) values.push_back(-values[i]);
  return values;
}

std::vector<float> scattered(float common, float rare) {
  std::vector<float> values(3 * kBlock, common);
  for (size_t i = 5; i < values.size(); i += 701) values[i] = i % 2 == 0 ? rare : -rare;
  return values;
}

}  // namespace

int reference_fp16_exponent(const float* values, int64_t count) {
  int exponent = -86;
  for (int64_t i = 0; i < count; ++i) {
    const float rounded = nearest(values[i], 11, -149);
    if (std::isfinite(rounded) && rounded != 0) exponent = std::max(exponent, std::ilogb(rounded));
  }
  return exponent;
}

std::vector<float> reference_rounded(Codec codec, const std::vector<float>& values) {
  std::vector<float> rounded;
  const auto count = static_cast<int64_t>(values.size());
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, count);
    const int exponent = reference_fp16_exponent(values.data() + begin, end - begin);
    for (int64_t i = begin; i < end; ++i) {
      const float value = values[static_cast<size_t>(i)];
      rounded.push_back(codec == Codec::kFp16 ? nearest(value, 11, exponent - 15 - 24)
                                              : nearest(value, 8, -133));
    }
  }
  return rounded;
}

std::vector<Pattern> codec_patterns() {
  constexpr float kMax = std::numeric_limits<float>::max();
  std::vector<Pattern> patterns{
      {"nothing", {}},
      {"zeros of both signs", scattered(-0.0F, 0.0F)},
      {"random bits", random_bits(1, 20 * kBlock + 321)},
      {"normals", normals(2, 5 * kBlock + 1, 1)},
      {"one large, many small", scattered(0x1.234567p-30F, 20000.0F)},
      {"many large, few small", scattered(-20000.0F, 0x1.234567p-24F)},
      {"infinities among others", scattered(3.14159F, kInfinity)},
      {"the largest", scattered(kMax, 1.2345F)},
      {"the largest that is rounded to a finite number", scattered(0x1.ffdfp127F, 7.7F)},
      {"subnormals", scattered(0x1p-149F, 0x1.777p-128F)}};
  std::vector<float> all = specials();
  for (const float special : all) {
    // Alone, where it fixes the exponent; then all of them beside each other.
    patterns.push_back({to_text("alone ", special), {special}});
    patterns.push_back({to_text("with one ", special), {1.00048828125F, special, -0.0F}});
  }
  patterns.push_back({"specials", std::move(all)});
  for (int exponent = -148; exponent < 128; exponent += 3) {
    patterns.push_back(
        {to_text("normals x 2^", exponent), normals(3, kBlock + 7, std::ldexp(1.0, exponent))});
  }
  return patterns;
}

std::string first_difference(const std::vector<float>& actual, const std::vector<float>& expected) {
  if (actual.size() != expected.size()) return to_text(actual.size(), " elements, not ", expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    if (std::bit_cast<uint32_t>(actual[i]) != std::bit_cast<uint32_t>(expected[i])) {
      return to_text("element ", i, ": got ", actual[i], ", expected ", expected[i]);
    }
  }
  return "";
}

}  // namespace lockstep::comm::test
