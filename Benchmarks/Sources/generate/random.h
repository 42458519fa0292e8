#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014). The same numbers on
// every machine; each row starts its own stream, so a row's values depend on nothing but the seed and its number.
typedef struct {
  uint64_t state;
} random_stream;

// The finalizer: a bijection of 64-bit integers, so different inputs never collide.
static inline uint64_t mix(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
  return value ^ (value >> 31);
}

static inline uint64_t next_random(random_stream *stream) {
  stream->state += 0x9E3779B97F4A7C15u;
  return mix(stream->state);
}

// A number in 0 ..< limit. The bias of a limit below 2^32 is under 2^-32: of no account here.
static inline uint32_t random_below(random_stream *stream, uint32_t limit) {
  return (uint32_t)(((next_random(stream) >> 32) * limit) >> 32);
}

static inline random_stream stream_for_row(uint64_t seed, uint64_t row) {
  return (random_stream){mix(seed + 1) ^ mix(row)};
}

#endif
