#include <immintrin.h>

#include <cstddef>

#include "train/cpu/peak_kernels.h"

namespace lockstep::train::cpu {
namespace {

// Enough independent sums to hide the latency of one: 4 cycles on two units take at least 8.
constexpr int kSums = 12;

// Sums that go to 1. They start differently: equal ones the compiler would compute once.
constexpr float kFactor = 0.5F;
constexpr float kAddend = 0.5F;

__attribute__((target("avx512f"))) float multiply_add_avx512(int64_t rounds) {
  const __m512 factor = _mm512_set1_ps(kFactor);
  const __m512 addend = _mm512_set1_ps(kAddend);
  __m512 sums[kSums];
#pragma GCC unroll 12
  for (int i = 0; i < kSums; ++i) sums[i] = _mm512_set1_ps(static_cast<float>(i));
  for (int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (__m512& sum : sums) sum = _mm512_fmadd_ps(sum, factor, addend);
  }
  __m512 total = _mm512_setzero_ps();
#pragma GCC unroll 12
  for (const __m512& sum : sums) total = _mm512_add_ps(total, sum);
  alignas(64) float lanes[16];
  _mm512_store_ps(lanes, total);
  return lanes[0];
}

__attribute__((target("avx512f"))) void triad_avx512(const float* a, const float* b, float factor,
                                                     float* result, int64_t count) {
  const __m512 factors = _mm512_set1_ps(factor);
  for (int64_t i = 0; i < count; i += 16)
    _mm512_stream_ps(result + i, _mm512_fmadd_ps(_mm512_load_ps(b + i), factors, _mm512_load_ps(a + i)));
  _mm_sfence();
}

__attribute__((target("avx2,fma"))) float multiply_add_avx2(int64_t rounds) {
  const __m256 factor = _mm256_set1_ps(kFactor);
  const __m256 addend = _mm256_set1_ps(kAddend);
  __m256 sums[kSums];
#pragma GCC unroll 12
  for (int i = 0; i < kSums; ++i) sums[i] = _mm256_set1_ps(static_cast<float>(i));
  for (int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (__m256& sum : sums) sum = _mm256_fmadd_ps(sum, factor, addend);
  }
  __m256 total = _mm256_setzero_ps();
#pragma GCC unroll 12
  for (const __m256& sum : sums) total = _mm256_add_ps(total, sum);
  return _mm256_cvtss_f32(total);
}

__attribute__((target("avx2,fma"))) void triad_avx2(const float* a, const float* b, float factor,
                                                    float* result, int64_t count) {
  const __m256 factors = _mm256_set1_ps(factor);
  for (int64_t i = 0; i < count; i += 8)
    _mm256_stream_ps(result + i, _mm256_fmadd_ps(_mm256_load_ps(b + i), factors, _mm256_load_ps(a + i)));
  _mm_sfence();
}

float multiply_add_sse2(int64_t rounds) {
  const __m128 factor = _mm_set1_ps(kFactor);
  const __m128 addend = _mm_set1_ps(kAddend);
  __m128 sums[kSums];
#pragma GCC unroll 12
  for (int i = 0; i < kSums; ++i) sums[i] = _mm_set1_ps(static_cast<float>(i));
  for (int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (__m128& sum : sums) sum = _mm_add_ps(_mm_mul_ps(sum, factor), addend);
  }
  __m128 total = _mm_setzero_ps();
#pragma GCC unroll 12
  for (const __m128& sum : sums) total = _mm_add_ps(total, sum);
  return _mm_cvtss_f32(total);
}

void triad_sse2(const float* a, const float* b, float factor, float* result, int64_t count) {
  const __m128 factors = _mm_set1_ps(factor);
  for (int64_t i = 0; i < count; i += 4)
    _mm_stream_ps(result + i, _mm_add_ps(_mm_load_ps(a + i), _mm_mul_ps(_mm_load_ps(b + i), factors)));
  _mm_sfence();
}

constexpr PeakKernels kAvx512{"AVX-512", multiply_add_avx512, 2.0 * 16 * kSums, triad_avx512};
constexpr PeakKernels kAvx2{"AVX2", multiply_add_avx2, 2.0 * 8 * kSums, triad_avx2};
constexpr PeakKernels kSse2{"SSE2", multiply_add_sse2, 2.0 * 4 * kSums, triad_sse2};

}  // namespace

const PeakKernels& peak_kernels() {
  if (__builtin_cpu_supports("avx512f") != 0) return kAvx512;
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0) return kAvx2;
  return kSse2;
}

}  // namespace lockstep::train::cpu
