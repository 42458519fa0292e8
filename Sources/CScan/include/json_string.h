/* The contents of JSON strings: finding their end 16 bytes at a time, checking and unescaping them. */
#ifndef UPSURGE_JSON_STRING_H
#define UPSURGE_JSON_STRING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* What went wrong, or how far a kernel came. */
enum {
  UPSURGE_JSON_OK = 0,
  /* The bytes end before the value does. */
  UPSURGE_JSON_CUT = 1,
  UPSURGE_JSON_NO_VALUE = 2,
  UPSURGE_JSON_BAD_LITERAL = 3,
  UPSURGE_JSON_BAD_NUMBER = 4,
  UPSURGE_JSON_CONTROL = 5,
  UPSURGE_JSON_BAD_ESCAPE = 6,
  UPSURGE_JSON_BAD_HEX = 7,
  UPSURGE_JSON_NOT_UTF8 = 8,
  UPSURGE_JSON_TOO_DEEP = 9,
  UPSURGE_JSON_NO_KEY = 10,
  UPSURGE_JSON_NO_COLON = 11,
  UPSURGE_JSON_NO_COMMA_IN_OBJECT = 12,
  UPSURGE_JSON_NO_COMMA_IN_ARRAY = 13,
  UPSURGE_JSON_TRAILING = 14,
  UPSURGE_JSON_LONE_SURROGATE = 15,
  /* Where a machine stopped because it was asked to; no errors. */
  UPSURGE_JSON_AT_KEY = 32,
  UPSURGE_JSON_AT_VALUE = 33,
  UPSURGE_JSON_DONE = 34
};

/* The portable twin of `upsurge_json_skip_plain`. */
static inline const uint8_t *upsurge_json_skip_plain_portable(const uint8_t *p, const uint8_t *end, bool *has_high) {
  for (; p < end; p++) {
    if (*p == '"' || *p == '\\' || *p < 0x20) break;
    if (*p >= 0x80) *has_high = true;
  }
  return p;
}

/* The same eight bytes at a time. A borrow between bytes can make a plain byte look like a stop, so that a word
 * with a stop is looked at byte by byte. */
static inline const uint8_t *upsurge_json_skip_plain_words(const uint8_t *p, const uint8_t *end, bool *has_high) {
  const uint64_t ones = 0x0101010101010101ULL, tops = 0x8080808080808080ULL;
  while (end - p >= 8) {
    uint64_t word;
    memcpy(&word, p, 8);
    uint64_t quote = word ^ (ones * '"'), backslash = word ^ (ones * '\\');
    uint64_t stops = ((quote - ones) & ~quote) | ((backslash - ones) & ~backslash) | ((word - ones * 0x20) & ~word);
    if (stops & tops) {
      const uint8_t *stop = upsurge_json_skip_plain_portable(p, p + 8, has_high);
      if (stop < p + 8) return stop;
    } else if (word & tops) {
      *has_high = true;
    }
    p += 8;
  }
  return upsurge_json_skip_plain_portable(p, end, has_high);
}

/* The first quote, backslash or control character from `p` on, or `end`. Sets `has_high` when a byte over 0x7F
 * stands before it. Reads `end - p` bytes and no more. */
static inline const uint8_t *upsurge_json_skip_plain(const uint8_t *p, const uint8_t *end, bool *has_high) {
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'), space = _mm_set1_epi8(0x1F);
  while (end - p >= 16) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)p);
    __m128i special = _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash));
    special = _mm_or_si128(special, _mm_cmpeq_epi8(_mm_min_epu8(bytes, space), bytes));
    unsigned stops = (unsigned)_mm_movemask_epi8(special), high = (unsigned)_mm_movemask_epi8(bytes);
    if (stops) {
      if (high & ((stops & -stops) - 1)) *has_high = true;
      return p + __builtin_ctz(stops);
    }
    if (high) *has_high = true;
    p += 16;
  }
  return upsurge_json_skip_plain_portable(p, end, has_high);
#else
  return upsurge_json_skip_plain_words(p, end, has_high);
#endif
}

/* Whether the bytes are UTF-8 (Unicode 15, table 3-7): no overlong forms, no surrogates, nothing over U+10FFFF. */
static bool upsurge_json_utf8_valid(const uint8_t *p, const uint8_t *end) __attribute__((unused));
static bool upsurge_json_utf8_valid(const uint8_t *p, const uint8_t *end) {
  while (p < end) {
    uint8_t lead = *p++;
    if (lead < 0x80) continue;
    uint8_t low = 0x80, high = 0xBF;
    ptrdiff_t more;
    if (lead >= 0xC2 && lead <= 0xDF) {
      more = 1;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
      more = 2;
      if (lead == 0xE0) low = 0xA0;
      if (lead == 0xED) high = 0x9F;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
      more = 3;
      if (lead == 0xF0) low = 0x90;
      if (lead == 0xF4) high = 0x8F;
    } else {
      return false;
    }
    if (end - p < more || *p < low || *p > high) return false;
    for (ptrdiff_t i = 1; i < more; i++) {
      if ((p[i] & 0xC0) != 0x80) return false;
    }
    p += more;
  }
  return true;
}

/* The value of a hexadecimal digit, or 255. */
static inline uint8_t upsurge_json_hex(uint8_t byte) {
  uint8_t digit = (uint8_t)(byte - '0'), letter = (uint8_t)((byte | 0x20) - 'a');
  if (digit <= 9) return digit;
  return letter <= 5 ? (uint8_t)(letter + 10) : 255;
}

/* The byte that a one-letter escape stands for, or 0. */
static inline uint8_t upsurge_json_escaped(uint8_t letter) {
  switch (letter) {
  case '"': return '"';
  case '\\': return '\\';
  case '/': return '/';
  case 'b': return '\b';
  case 'f': return '\f';
  case 'n': return '\n';
  case 'r': return '\r';
  case 't': return '\t';
  default: return 0;
  }
}

/* The four digits of a \u escape that was checked before. */
static inline uint32_t upsurge_json_unit(const uint8_t *digits) {
  return (uint32_t)upsurge_json_hex(digits[0]) << 12 | (uint32_t)upsurge_json_hex(digits[1]) << 8 |
         (uint32_t)upsurge_json_hex(digits[2]) << 4 | upsurge_json_hex(digits[3]);
}

static inline uint8_t *upsurge_json_put(uint32_t scalar, uint8_t *to) {
  if (scalar < 0x80) {
    *to++ = (uint8_t)scalar;
  } else if (scalar < 0x800) {
    *to++ = (uint8_t)(0xC0 | scalar >> 6);
    *to++ = (uint8_t)(0x80 | (scalar & 0x3F));
  } else if (scalar < 0x10000) {
    *to++ = (uint8_t)(0xE0 | scalar >> 12);
    *to++ = (uint8_t)(0x80 | (scalar >> 6 & 0x3F));
    *to++ = (uint8_t)(0x80 | (scalar & 0x3F));
  } else {
    *to++ = (uint8_t)(0xF0 | scalar >> 18);
    *to++ = (uint8_t)(0x80 | (scalar >> 12 & 0x3F));
    *to++ = (uint8_t)(0x80 | (scalar >> 6 & 0x3F));
    *to++ = (uint8_t)(0x80 | (scalar & 0x3F));
  }
  return to;
}

/* Unescapes the contents of a string whose escapes were checked before; `to` has room for as many bytes.
 * Returns the count of bytes written, or -1 for a surrogate without its partner. */
static ptrdiff_t upsurge_json_unescape(const uint8_t *p, const uint8_t *end, uint8_t *to) __attribute__((unused));
static ptrdiff_t upsurge_json_unescape(const uint8_t *p, const uint8_t *end, uint8_t *to) {
  const uint8_t *first = to;
  while (p < end) {
    const uint8_t *escape = (const uint8_t *)memchr(p, '\\', (size_t)(end - p));
    size_t plain = (size_t)((escape ? escape : end) - p);
    memcpy(to, p, plain);
    to += plain;
    if (!escape) break;
    p = escape + 2;
    if (escape[1] != 'u') {
      *to++ = upsurge_json_escaped(escape[1]);
      continue;
    }
    uint32_t unit = upsurge_json_unit(p);
    p += 4;
    if (unit >= 0xD800 && unit <= 0xDFFF) {
      if (unit >= 0xDC00 || end - p < 6 || p[0] != '\\' || p[1] != 'u') return -1;
      uint32_t partner = upsurge_json_unit(p + 2);
      if (partner < 0xDC00 || partner > 0xDFFF) return -1;
      unit = 0x10000 + ((unit - 0xD800) << 10) + (partner - 0xDC00);
      p += 6;
    }
    to = upsurge_json_put(unit, to);
  }
  return to - first;
}

#endif
