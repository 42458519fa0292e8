/* One JSON value that lies whole in memory: strings, numbers and literals. Objects and arrays are read by the
 * parser itself or skipped by the machine of json_machine.h. */
#ifndef UPSURGE_JSON_VALUE_H
#define UPSURGE_JSON_VALUE_H

#include "json_string.h"
#include "number.h"

enum {
  UPSURGE_JSON_STRING = 0,
  UPSURGE_JSON_NUMBER = 1,
  /* A number of at most 18 digits without fraction or exponent, whose value is known. */
  UPSURGE_JSON_INTEGER = 2,
  UPSURGE_JSON_NULL = 3,
  UPSURGE_JSON_TRUE = 4,
  UPSURGE_JSON_FALSE = 5,
  UPSURGE_JSON_OBJECT = 6,
  UPSURGE_JSON_ARRAY = 7
};

typedef struct {
  /* The value's bytes; a string's are those between its quotes. */
  const uint8_t *start, *end;
  /* The first byte after the value, or the byte at which it fails. */
  const uint8_t *next;
  int64_t integer;
  int kind;
  bool has_escapes;
} upsurge_json_token;

static inline bool upsurge_json_is_space(uint8_t byte) {
  return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

static inline const uint8_t *upsurge_json_skip_space(const uint8_t *p, const uint8_t *end) {
  while (p < end && *p <= ' ' && upsurge_json_is_space(*p)) p++;
  return p;
}

/* Where the bytes stop being UTF-8; for messages. */
static const uint8_t *upsurge_json_utf8_fault(const uint8_t *p, const uint8_t *end) __attribute__((unused));
static const uint8_t *upsurge_json_utf8_fault(const uint8_t *p, const uint8_t *end) {
  while (p < end) {
    const uint8_t *next = p + 1;
    while (next < end && (*next & 0xC0) == 0x80) next++;
    if (!upsurge_json_utf8_valid(p, next)) return p;
    p = next;
  }
  return end;
}

/* Reads an escape; `p` is at the backslash. Returns the byte after it, or NULL with the fault in the token. */
static const uint8_t *upsurge_json_check_escape(const uint8_t *p, const uint8_t *end, int *fault,
                                                upsurge_json_token *token) __attribute__((unused));
static const uint8_t *upsurge_json_check_escape(const uint8_t *p, const uint8_t *end, int *fault,
                                                upsurge_json_token *token) {
  token->next = p + 1;
  *fault = UPSURGE_JSON_CUT;
  if (end - p < 2) return NULL;
  if (p[1] != 'u') {
    *fault = UPSURGE_JSON_BAD_ESCAPE;
    return upsurge_json_escaped(p[1]) ? p + 2 : NULL;
  }
  for (p += 2; token->next < p + 3; ) {
    token->next++;
    if (token->next == end) return NULL;
    if (upsurge_json_hex(*token->next) == 255) {
      *fault = UPSURGE_JSON_BAD_HEX;
      return NULL;
    }
  }
  return p + 4;
}

/* Reads a string; `p` is after the opening quote. `end` bounds the record, `limit >= end` what may be read. */
static inline int upsurge_json_read_string(const uint8_t *p, const uint8_t *end, const uint8_t *limit,
                                           upsurge_json_token *token) {
  bool has_high = false;
  token->kind = UPSURGE_JSON_STRING;
  token->has_escapes = false;
  token->start = p;
  for (;;) {
    p = upsurge_json_skip_plain(p, limit, &has_high);
    token->next = p;
    if (p >= end) {
      token->next = end;
      return UPSURGE_JSON_CUT;
    }
    if (*p == '"') break;
    if (*p != '\\') return UPSURGE_JSON_CONTROL;
    int fault;
    token->has_escapes = true;
    p = upsurge_json_check_escape(p, end, &fault, token);
    if (!p) return fault;
  }
  token->end = p;
  token->next = p + 1;
  if (__builtin_expect(has_high, 0) && !upsurge_json_utf8_valid(token->start, p)) {
    token->next = upsurge_json_utf8_fault(token->start, p);
    return UPSURGE_JSON_NOT_UTF8;
  }
  return UPSURGE_JSON_OK;
}

/* Reads a number; `p` is at its first byte. A number that reaches `end` may go on: CUT, with the token filled
 * and `next == end` when what is there is a whole number. */
static inline int upsurge_json_read_number(const uint8_t *p, const uint8_t *end, upsurge_json_token *token) {
  token->start = p;
  token->end = NULL;
  token->kind = UPSURGE_JSON_NUMBER;
  bool negative = *p == '-';
  p += negative;
  const uint8_t *digits = p;
  uint64_t value = 0;
  while (p < end && upsurge_is_digit(*p)) value = value * 10 + (uint64_t)(*p++ - '0');
  size_t count = (size_t)(p - digits);
  token->next = p;
  if (count == 0) return p == end ? UPSURGE_JSON_CUT : UPSURGE_JSON_BAD_NUMBER;
  if (*digits == '0' && count > 1) {
    token->next = digits + 1;
    return UPSURGE_JSON_BAD_NUMBER;
  }
  if (p < end && *p != '.' && (*p | 0x20) != 'e') {
    if (count <= 18 && (value > 0 || !negative)) {
      token->kind = UPSURGE_JSON_INTEGER;
      token->integer = negative ? -(int64_t)value : (int64_t)value;
    }
    token->end = p;
    return UPSURGE_JSON_OK;
  }
  if (p < end && *p == '.') {
    const uint8_t *fraction = ++p;
    while (p < end && upsurge_is_digit(*p)) p++;
    token->next = p;
    if (p == fraction) return p == end ? UPSURGE_JSON_CUT : UPSURGE_JSON_BAD_NUMBER;
  }
  if (p < end && (*p | 0x20) == 'e') {
    p++;
    if (p < end && (*p == '-' || *p == '+')) p++;
    const uint8_t *exponent = p;
    while (p < end && upsurge_is_digit(*p)) p++;
    token->next = p;
    if (p == exponent) return p == end ? UPSURGE_JSON_CUT : UPSURGE_JSON_BAD_NUMBER;
  }
  token->end = p;
  return p < end ? UPSURGE_JSON_OK : UPSURGE_JSON_CUT;
}

static inline int upsurge_json_read_literal(const uint8_t *p, const uint8_t *end, const char *word, int kind,
                                            upsurge_json_token *token) {
  token->start = p;
  token->kind = kind;
  for (; *word; word++, p++) {
    token->next = p;
    if (p == end) return UPSURGE_JSON_CUT;
    if (*p != (uint8_t)*word) return UPSURGE_JSON_BAD_LITERAL;
  }
  token->end = p;
  token->next = p;
  return UPSURGE_JSON_OK;
}

/* Reads the value at `p`. An object or array is only recognised: `next` stays at its bracket. */
static inline int upsurge_json_read_value(const uint8_t *p, const uint8_t *end, const uint8_t *limit,
                                          upsurge_json_token *token) {
  token->next = p;
  if (p >= end) return UPSURGE_JSON_CUT;
  switch (*p) {
  case '"': return upsurge_json_read_string(p + 1, end, limit, token);
  case '-': case '0': case '1': case '2': case '3': case '4':
  case '5': case '6': case '7': case '8': case '9': return upsurge_json_read_number(p, end, token);
  case 'n': return upsurge_json_read_literal(p, end, "null", UPSURGE_JSON_NULL, token);
  case 't': return upsurge_json_read_literal(p, end, "true", UPSURGE_JSON_TRUE, token);
  case 'f': return upsurge_json_read_literal(p, end, "false", UPSURGE_JSON_FALSE, token);
  case '{': token->kind = UPSURGE_JSON_OBJECT; return UPSURGE_JSON_OK;
  case '[': token->kind = UPSURGE_JSON_ARRAY; return UPSURGE_JSON_OK;
  default: return UPSURGE_JSON_NO_VALUE;
  }
}

/* Whether the key `name` (its closing quote is its last byte, so `count` is one more than the key's length)
 * stands at `p`. `head` is its first eight bytes, zeros after the end. */
static inline bool upsurge_json_key_is(const uint8_t *p, const uint8_t *end, const uint8_t *name, size_t count,
                                       uint64_t head) {
  if ((size_t)(end - p) < count) return false;
  if (end - p >= 8) {
    uint64_t word;
    memcpy(&word, p, 8);
    if (count < 8) word &= ((uint64_t)1 << (8 * count)) - 1;
    if (word != head) return false;
    if (count <= 8) return true;
    if (count > 16) return memcmp(p + 8, name + 8, count - 8) == 0;
    /* the last eight bytes, some of them a second time */
    uint64_t last, expected;
    memcpy(&last, p + count - 8, 8);
    memcpy(&expected, name + count - 8, 8);
    return last == expected;
  }
  return memcmp(p, name, count) == 0;
}

/* How many line feeds there are. */
static inline uint64_t upsurge_json_count_lines(const uint8_t *p, const uint8_t *end) {
  uint64_t count = 0;
  for (; p < end; p++) count += *p == '\n';
  return count;
}

#endif
