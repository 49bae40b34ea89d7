#include <immintrin.h>

#include "comm/codecs/halves.h"

namespace lockstep::comm {
namespace {

constexpr int64_t kLanes = 8;

[[gnu::target("avx,f16c")]] void narrow(const float* values, int64_t count, float scale, uint16_t* halves) {
  const __m256 factor = _mm256_set1_ps(scale);
  const int64_t whole = count / kLanes * kLanes;
  for (int64_t i = 0; i < whole; i += kLanes) {
    const __m256 scaled = _mm256_mul_ps(_mm256_loadu_ps(values + i), factor);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(halves + i),
                     _mm256_cvtps_ph(scaled, _MM_FROUND_TO_NEAREST_INT));
  }
  plain_half_loops().narrow(values + whole, count - whole, scale, halves + whole);
}

[[gnu::target("avx,f16c")]] void widen(const uint16_t* halves, int64_t count, float scale, float* values) {
  const __m256 factor = _mm256_set1_ps(scale);
  const int64_t whole = count / kLanes * kLanes;
  for (int64_t i = 0; i < whole; i += kLanes) {
    const __m128i eight = _mm_loadu_si128(reinterpret_cast<const __m128i*>(halves + i));
    _mm256_storeu_ps(values + i, _mm256_mul_ps(_mm256_cvtph_ps(eight), factor));
  }
  plain_half_loops().widen(halves + whole, count - whole, scale, values + whole);
}

[[gnu::target("avx,f16c")]] void round(float* values, int64_t count, float scale, float inverse) {
  const __m256 factor = _mm256_set1_ps(scale);
  const __m256 back = _mm256_set1_ps(inverse);
  const int64_t whole = count / kLanes * kLanes;
  for (int64_t i = 0; i < whole; i += kLanes) {
    const __m128i eight =
        _mm256_cvtps_ph(_mm256_mul_ps(_mm256_loadu_ps(values + i), factor), _MM_FROUND_TO_NEAREST_INT);
    _mm256_storeu_ps(values + i, _mm256_mul_ps(_mm256_cvtph_ps(eight), back));
  }
  plain_half_loops().round(values + whole, count - whole, scale, inverse);
}

}  // namespace

const HalfLoops* native_half_loops() {
  static constexpr HalfLoops kLoops{narrow, widen, round};
  return __builtin_cpu_supports("f16c") != 0 ? &kLoops : nullptr;
}

}  // namespace lockstep::comm
