// UTF-8 validation of three kinds of text, and the hash that knows a file again.

#include <string.h>

#include "kernels.h"

static uint64_t validate(span text) { return upsurge_validate_utf8(text.start, text.count).valid_count; }

static uint64_t validate_ascii(kernel_data *data) { return validate(data->ascii); }
static uint64_t validate_accents(kernel_data *data) { return validate(data->accents); }
static uint64_t validate_wide(kernel_data *data) { return validate(data->wide_text); }

static inline uint64_t rotate(uint64_t value, int count) { return value << count | value >> (64 - count); }

// XXH64 with seed 0, which the engine computes in Swift: the same steps in C, as what the machine allows.
// https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md
static const uint64_t primes[5] = {
  0x9E3779B185EBCA87u, 0xC2B2AE3D27D4EB4Fu, 0x165667B19E3779F9u, 0x85EBCA77C2B2AE63u, 0x27D4EB2F165667C5u};

static inline uint64_t word_at(const uint8_t *bytes) {
  uint64_t word;
  memcpy(&word, bytes, 8);
  return word;
}

static inline uint64_t mix_in(uint64_t lane, uint64_t word) { return rotate(lane + word * primes[1], 31) * primes[0]; }

static uint64_t hash(span text) {
  const uint8_t *p = text.start, *end = p + text.count;
  uint64_t result = primes[4];
  if (text.count >= 32) {
    uint64_t lanes[4] = {primes[0] + primes[1], primes[1], 0, 0 - primes[0]};
    for (; end - p >= 32; p += 32) {
      for (int lane = 0; lane < 4; lane++) lanes[lane] = mix_in(lanes[lane], word_at(p + 8 * lane));
    }
    result = rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) + rotate(lanes[3], 18);
    for (int lane = 0; lane < 4; lane++) result = (result ^ mix_in(0, lanes[lane])) * primes[0] + primes[3];
  }
  result += text.count;
  for (; end - p >= 8; p += 8) result = rotate(result ^ mix_in(0, word_at(p)), 27) * primes[0] + primes[3];
  if (end - p >= 4) {
    uint32_t half;
    memcpy(&half, p, 4);
    result = rotate(result ^ half * primes[0], 23) * primes[1] + primes[2];
    p += 4;
  }
  for (; p < end; p++) result = rotate(result ^ *p * primes[4], 11) * primes[0];
  result = (result ^ result >> 33) * primes[1];
  result = (result ^ result >> 29) * primes[2];
  return result ^ result >> 32;
}

static uint64_t hash_csv(kernel_data *data) { return hash(data->csv); }

int text_kernels(kernel_data *data, kernel *kernels) {
  if (hash((span){(const uint8_t *)"abc", 3}) != 0x44BC2CF5AD770999u) return 0;
  kernels[0] = (kernel){"UTF-8 validation", "ASCII", validate_ascii, data->ascii.count, 0};
  kernels[1] = (kernel){"UTF-8 validation", "some accents", validate_accents, data->accents.count, 0};
  kernels[2] = (kernel){"UTF-8 validation", "three bytes a character", validate_wide, data->wide_text.count, 0};
  kernels[3] = (kernel){"hashing", "XXH64", hash_csv, data->csv.count, 0};
  return 4;
}
