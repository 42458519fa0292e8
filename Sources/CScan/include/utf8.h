/*
 * Checks UTF-8 (RFC 3629, Unicode table 3-7): no overlong forms, no surrogates, nothing above U+10FFFF.
 *
 * ASCII goes 32 bytes at a time; the rest one sequence at a time by the ranges of the table:
 *
 *     00..7F
 *     C2..DF 80..BF
 *     E0     A0..BF 80..BF        E1..EC, EE..EF 80..BF 80..BF        ED 80..9F 80..BF
 *     F0     90..BF 80..BF 80..BF     F1..F3 80..BF (3 times)         F4 80..8F 80..BF 80..BF
 */
#ifndef UPSURGE_UTF8_H
#define UPSURGE_UTF8_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* What was found out about a run of bytes. */
typedef struct {
  /* Bytes from the start that are whole, valid sequences. */
  size_t valid_count;
  /* 1 when all that follows them is the valid beginning of one sequence that the end has cut. */
  int is_tail_incomplete;
} upsurge_utf8_result;

/* How many bytes from `i` on are ASCII for certain, in steps of 32 or 8. */
static inline size_t upsurge_ascii_run(const uint8_t *bytes, size_t i, size_t count) {
  const size_t start = i;
  while (i + 32 <= count) {
    uint64_t word[4];
    memcpy(word, bytes + i, 32);
    if ((word[0] | word[1] | word[2] | word[3]) & 0x8080808080808080ull) break;
    i += 32;
  }
  while (i + 8 <= count) {
    uint64_t word;
    memcpy(&word, bytes + i, 8);
    if (word & 0x8080808080808080ull) break;
    i += 8;
  }
  return i - start;
}

/* Checks `count` bytes; stops at the first sequence that is not valid or not whole. */
static inline upsurge_utf8_result upsurge_validate_utf8(const uint8_t *bytes, size_t count) {
  upsurge_utf8_result result = {0, 0};
  size_t i = 0;
  while (i < count) {
    const uint8_t lead = bytes[i];
    if (lead < 0x80) {
      const size_t run = upsurge_ascii_run(bytes, i, count);
      i += run;
      /* Fewer than eight are left, or one of the next eight is not ASCII. */
      while (i < count && bytes[i] < 0x80 && run < 8) i++;
      continue;
    }
    /* The range of the second byte tells overlong forms, surrogates and too large values apart. */
    size_t length;
    uint8_t low = 0x80, high = 0xBF;
    if (lead >= 0xC2 && lead <= 0xDF) {
      length = 2;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
      length = 3;
      if (lead == 0xE0) low = 0xA0;
      if (lead == 0xED) high = 0x9F;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
      length = 4;
      if (lead == 0xF0) low = 0x90;
      if (lead == 0xF4) high = 0x8F;
    } else {
      break;
    }
    size_t k = 1;
    while (k < length && i + k < count && bytes[i + k] >= low && bytes[i + k] <= high) {
      low = 0x80;
      high = 0xBF;
      k++;
    }
    if (k < length) {
      result.is_tail_incomplete = i + k == count;
      break;
    }
    i += length;
  }
  result.valid_count = i;
  return result;
}

#endif
