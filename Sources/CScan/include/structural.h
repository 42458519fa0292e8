/*
 * Finds the bytes that can mean something in CSV: a delimiter, a quote, an escape character, CR, LF.
 *
 * The idea: compare 16, 32 or 64 bytes at once with each of the five bytes, turn the result into a bit mask, and
 * write the positions of its set bits one after another. What a position means is decided by the caller, which
 * then looks at a few positions a record instead of at every byte.
 *
 *     a,"b c",d\n   ->   1 2 6 7 9
 *
 * Three kernels give identical results; upsurge_structural() picks the best one that the processor has.
 * They write whole groups of positions, so the buffer needs UPSURGE_STRUCTURAL_SLACK entries more than `count`.
 */
#ifndef UPSURGE_STRUCTURAL_H
#define UPSURGE_STRUCTURAL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Entries that a kernel may write behind the last position. */
#define UPSURGE_STRUCTURAL_SLACK 64

/* The bytes looked for. A mark that a dialect lacks repeats another one. */
typedef struct {
  uint8_t byte[5];
} upsurge_needles;

/* Which kernel to use; see upsurge_simd_level(). */
enum { UPSURGE_SIMD_PORTABLE = 0, UPSURGE_SIMD_SSE2 = 1, UPSURGE_SIMD_AVX2 = 2 };

/* The best kernel that this processor can run. */
static inline int upsurge_simd_level(void) {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") ? UPSURGE_SIMD_AVX2 : UPSURGE_SIMD_SSE2;
#else
  return UPSURGE_SIMD_PORTABLE;
#endif
}

/* Writes `base` + index for each set bit; eight at a time, because a loop per bit would be mispredicted. */
static inline __attribute__((always_inline)) size_t upsurge_write_bits(
    uint64_t bits, uint32_t base, uint32_t *positions) {
  if (bits == 0) return 0;
  size_t count = (size_t)__builtin_popcountll(bits);
  size_t written = 0;
  do {
    for (int i = 0; i < 8; i++) {
      /* With no bit left ctz would be undefined; what is written then is never read. */
      positions[written + (size_t)i] = base + (uint32_t)__builtin_ctzll(bits | (1ull << 63));
      bits &= bits - 1;
    }
    written += 8;
  } while (written < count);
  return count;
}

/* One byte at a time; also does what the wide kernels leave over. */
static inline size_t upsurge_structural_portable(
    const uint8_t *bytes, size_t count, upsurge_needles needles, uint32_t base, uint32_t *positions) {
  const uint8_t a = needles.byte[0], b = needles.byte[1], c = needles.byte[2];
  const uint8_t d = needles.byte[3], e = needles.byte[4];
  size_t found = 0;
  for (size_t i = 0; i < count; i++) {
    const uint8_t x = bytes[i];
    positions[found] = base + (uint32_t)i;
    found += (size_t)((x == a) | (x == b) | (x == c) | (x == d) | (x == e));
  }
  return found;
}

#if defined(__x86_64__)

static inline __attribute__((always_inline)) uint64_t upsurge_match16(
    const uint8_t *bytes, __m128i a, __m128i b, __m128i c, __m128i d, __m128i e) {
  const __m128i x = _mm_loadu_si128((const __m128i *)bytes);
  const __m128i ab = _mm_or_si128(_mm_cmpeq_epi8(x, a), _mm_cmpeq_epi8(x, b));
  const __m128i cd = _mm_or_si128(_mm_cmpeq_epi8(x, c), _mm_cmpeq_epi8(x, d));
  const __m128i all = _mm_or_si128(_mm_or_si128(ab, cd), _mm_cmpeq_epi8(x, e));
  return (uint64_t)(uint32_t)_mm_movemask_epi8(all);
}

static inline size_t upsurge_structural_sse2(
    const uint8_t *bytes, size_t count, upsurge_needles needles, uint32_t base, uint32_t *positions) {
  const __m128i a = _mm_set1_epi8((char)needles.byte[0]);
  const __m128i b = _mm_set1_epi8((char)needles.byte[1]);
  const __m128i c = _mm_set1_epi8((char)needles.byte[2]);
  const __m128i d = _mm_set1_epi8((char)needles.byte[3]);
  const __m128i e = _mm_set1_epi8((char)needles.byte[4]);
  size_t found = 0, i = 0;
  for (; i + 64 <= count; i += 64) {
    const uint64_t bits = upsurge_match16(bytes + i, a, b, c, d, e) |
                          upsurge_match16(bytes + i + 16, a, b, c, d, e) << 16 |
                          upsurge_match16(bytes + i + 32, a, b, c, d, e) << 32 |
                          upsurge_match16(bytes + i + 48, a, b, c, d, e) << 48;
    found += upsurge_write_bits(bits, base + (uint32_t)i, positions + found);
  }
  return found +
         upsurge_structural_portable(bytes + i, count - i, needles, base + (uint32_t)i, positions + found);
}

static inline __attribute__((always_inline, target("avx2"))) uint64_t upsurge_match32(
    const uint8_t *bytes, __m256i a, __m256i b, __m256i c, __m256i d, __m256i e) {
  const __m256i x = _mm256_loadu_si256((const __m256i *)bytes);
  const __m256i ab = _mm256_or_si256(_mm256_cmpeq_epi8(x, a), _mm256_cmpeq_epi8(x, b));
  const __m256i cd = _mm256_or_si256(_mm256_cmpeq_epi8(x, c), _mm256_cmpeq_epi8(x, d));
  const __m256i all = _mm256_or_si256(_mm256_or_si256(ab, cd), _mm256_cmpeq_epi8(x, e));
  return (uint64_t)(uint32_t)_mm256_movemask_epi8(all);
}

static inline __attribute__((target("avx2"))) size_t upsurge_structural_avx2(
    const uint8_t *bytes, size_t count, upsurge_needles needles, uint32_t base, uint32_t *positions) {
  const __m256i a = _mm256_set1_epi8((char)needles.byte[0]);
  const __m256i b = _mm256_set1_epi8((char)needles.byte[1]);
  const __m256i c = _mm256_set1_epi8((char)needles.byte[2]);
  const __m256i d = _mm256_set1_epi8((char)needles.byte[3]);
  const __m256i e = _mm256_set1_epi8((char)needles.byte[4]);
  size_t found = 0, i = 0;
  for (; i + 64 <= count; i += 64) {
    const uint64_t bits = upsurge_match32(bytes + i, a, b, c, d, e) |
                          upsurge_match32(bytes + i + 32, a, b, c, d, e) << 32;
    found += upsurge_write_bits(bits, base + (uint32_t)i, positions + found);
  }
  return found +
         upsurge_structural_portable(bytes + i, count - i, needles, base + (uint32_t)i, positions + found);
}

#endif

/*
 * Writes `base` + index of every interesting one of `count` bytes to `positions`, in order; returns how many.
 * `level` is one of UPSURGE_SIMD_*, at most upsurge_simd_level().
 */
static inline size_t upsurge_structural(
    int level, const uint8_t *bytes, size_t count, upsurge_needles needles, uint32_t base,
    uint32_t *positions) {
#if defined(__x86_64__)
  if (level == UPSURGE_SIMD_AVX2) return upsurge_structural_avx2(bytes, count, needles, base, positions);
  if (level == UPSURGE_SIMD_SSE2) return upsurge_structural_sse2(bytes, count, needles, base, positions);
#else
  (void)level;
#endif
  return upsurge_structural_portable(bytes, count, needles, base, positions);
}

#endif
