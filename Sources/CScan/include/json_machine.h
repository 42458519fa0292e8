/* Checks and skips JSON (RFC 8259) that may be cut at any byte: a pushdown automaton that goes on where it
 * stopped. It holds no text, so values of any size pass through any buffer.
 *
 * A bit of `stack` for each open bracket says whether it is an object's. Wherever a key or a value begins at a
 * depth of at most `watch_depth`, the machine stops in front of it, so that the caller can read it and say
 * `upsurge_json_machine_value_read`, or let it pass with `upsurge_json_machine_pass`.
 *
 *     {"a": 1, "data": [ {...}, {...} ]}      watch_depth 1
 *     ^ value at depth 0                      then the keys and values of the outer object; all else is skipped
 */
#ifndef UPSURGE_JSON_MACHINE_H
#define UPSURGE_JSON_MACHINE_H

#include "json_string.h"
#include "json_value.h"

enum { UPSURGE_JSON_DEPTH_LIMIT = 1024 };

enum {
  UPSURGE_STATE_VALUE = 0,
  UPSURGE_STATE_VALUE_OR_END,
  UPSURGE_STATE_KEY,
  UPSURGE_STATE_KEY_OR_END,
  UPSURGE_STATE_COLON,
  UPSURGE_STATE_AFTER,
  UPSURGE_STATE_STRING,
  UPSURGE_STATE_ESCAPE,
  UPSURGE_STATE_HEX,
  UPSURGE_STATE_UTF8,
  UPSURGE_STATE_LITERAL,
  UPSURGE_STATE_MINUS,
  UPSURGE_STATE_ZERO,
  UPSURGE_STATE_INTEGER,
  UPSURGE_STATE_POINT,
  UPSURGE_STATE_FRACTION,
  UPSURGE_STATE_E,
  UPSURGE_STATE_E_SIGN,
  UPSURGE_STATE_EXPONENT
};

typedef struct {
  uint64_t stack[UPSURGE_JSON_DEPTH_LIMIT / 64];
  int depth, depth_limit;
  /* Stop before keys and values at this depth or less; -1: never. */
  int watch_depth;
  uint8_t state;
  bool is_key;
  bool is_passing;
  /* Bytes that are not UTF-8 pass; to find the end of a record that is rejected for them. */
  bool allows_any_bytes;
  /* Digits or continuation bytes still to come, and the range of the next one. */
  uint8_t more, low, high;
  /* Which of the literals, and how many of its bytes were met. */
  uint8_t literal, literal_count;
} upsurge_json_machine;

static const char upsurge_json_literals[3][6] = {"null", "true", "false"};

static inline void upsurge_json_machine_start(upsurge_json_machine *m, int depth_limit) {
  m->depth = 0;
  m->depth_limit = depth_limit < UPSURGE_JSON_DEPTH_LIMIT ? depth_limit : UPSURGE_JSON_DEPTH_LIMIT;
  m->watch_depth = -1;
  m->state = UPSURGE_STATE_VALUE;
  m->is_key = m->is_passing = m->allows_any_bytes = false;
  m->more = m->low = m->high = 0;
  m->literal = m->literal_count = 0;
}

static inline bool upsurge_json_machine_in_object(const upsurge_json_machine *m) {
  unsigned top = (unsigned)m->depth - 1;
  return m->depth > 0 && (m->stack[top / 64] >> (top % 64) & 1);
}

/* The caller has read the value (or key) at which the machine stopped. */
static inline void upsurge_json_machine_value_read(upsurge_json_machine *m) { m->state = UPSURGE_STATE_AFTER; }
static inline void upsurge_json_machine_key_read(upsurge_json_machine *m) { m->state = UPSURGE_STATE_COLON; }
/* Let the value at which the machine stopped pass unread. */
static inline void upsurge_json_machine_pass(upsurge_json_machine *m) { m->is_passing = true; }

static inline int upsurge_json_machine_open(upsurge_json_machine *m, bool is_object) {
  if (m->depth >= m->depth_limit) return UPSURGE_JSON_TOO_DEEP;
  unsigned top = (unsigned)m->depth++;
  uint64_t bit = (uint64_t)1 << (top % 64);
  if (is_object) m->stack[top / 64] |= bit; else m->stack[top / 64] &= ~bit;
  m->state = is_object ? UPSURGE_STATE_KEY_OR_END : UPSURGE_STATE_VALUE_OR_END;
  return UPSURGE_JSON_OK;
}

static inline void upsurge_json_machine_close(upsurge_json_machine *m) {
  m->depth--;
  m->state = UPSURGE_STATE_AFTER;
}

static inline int upsurge_json_machine_literal(upsurge_json_machine *m, uint8_t literal) {
  m->state = UPSURGE_STATE_LITERAL;
  m->literal = literal;
  m->literal_count = 1;
  return UPSURGE_JSON_OK;
}

/* Begins the value whose first byte is given; strings, numbers and literals go on in their own states. */
static inline int upsurge_json_machine_begin(upsurge_json_machine *m, uint8_t byte) {
  switch (byte) {
  case '{': return upsurge_json_machine_open(m, true);
  case '[': return upsurge_json_machine_open(m, false);
  case '"': m->state = UPSURGE_STATE_STRING; m->is_key = false; break;
  case '-': m->state = UPSURGE_STATE_MINUS; break;
  case '0': m->state = UPSURGE_STATE_ZERO; break;
  case 'n': return upsurge_json_machine_literal(m, 0);
  case 't': return upsurge_json_machine_literal(m, 1);
  case 'f': return upsurge_json_machine_literal(m, 2);
  default:
    if (!upsurge_is_digit(byte)) return UPSURGE_JSON_NO_VALUE;
    m->state = UPSURGE_STATE_INTEGER;
  }
  return UPSURGE_JSON_OK;
}

/* Takes a byte over 0x7F that begins a UTF-8 sequence; false when none does. */
static inline bool upsurge_json_machine_lead(upsurge_json_machine *m, uint8_t lead) {
  m->low = 0x80;
  m->high = 0xBF;
  if (m->allows_any_bytes) return true;
  if (lead >= 0xC2 && lead <= 0xDF) {
    m->more = 1;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    m->more = 2;
    if (lead == 0xE0) m->low = 0xA0;
    if (lead == 0xED) m->high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    m->more = 3;
    if (lead == 0xF0) m->low = 0x90;
    if (lead == 0xF4) m->high = 0x8F;
  } else {
    return false;
  }
  m->state = UPSURGE_STATE_UTF8;
  return true;
}

/* Goes on inside a string until it ends or the bytes do; `*at` is moved. */
static inline int upsurge_json_machine_string(upsurge_json_machine *m, const uint8_t **at, const uint8_t *end) {
  const uint8_t *p = *at;
  int fault = UPSURGE_JSON_OK;
  while (p < end) {
    if (m->state == UPSURGE_STATE_STRING) {
      bool has_high = false;
      const uint8_t *stop = upsurge_json_skip_plain(p, end, &has_high);
      if (has_high && !m->allows_any_bytes) {
        while (p < stop && *p < 0x80) p++;
        if (!upsurge_json_machine_lead(m, *p)) { fault = UPSURGE_JSON_NOT_UTF8; break; }
        p++;
        continue;
      }
      p = stop;
      if (p == end) break;
      if (*p == '"') {
        p++;
        m->state = m->is_key ? UPSURGE_STATE_COLON : UPSURGE_STATE_AFTER;
        break;
      }
      if (*p != '\\') { fault = UPSURGE_JSON_CONTROL; break; }
      m->state = UPSURGE_STATE_ESCAPE;
    } else if (m->state == UPSURGE_STATE_UTF8) {
      if (*p < m->low || *p > m->high) { fault = UPSURGE_JSON_NOT_UTF8; break; }
      m->low = 0x80;
      m->high = 0xBF;
      if (--m->more == 0) m->state = UPSURGE_STATE_STRING;
    } else if (m->state == UPSURGE_STATE_ESCAPE) {
      m->state = UPSURGE_STATE_STRING;
      if (*p == 'u') {
        m->state = UPSURGE_STATE_HEX;
        m->more = 4;
      } else if (!upsurge_json_escaped(*p)) { fault = UPSURGE_JSON_BAD_ESCAPE; break; }
    } else {
      if (upsurge_json_hex(*p) == 255) { fault = UPSURGE_JSON_BAD_HEX; break; }
      if (--m->more == 0) m->state = UPSURGE_STATE_STRING;
    }
    p++;
  }
  *at = p;
  return fault;
}

/* Takes one byte inside a number. OK: taken; DONE: the number ended before it. */
static inline int upsurge_json_machine_number(upsurge_json_machine *m, uint8_t byte) {
  bool is_digit = upsurge_is_digit(byte);
  switch (m->state) {
  case UPSURGE_STATE_MINUS:
    if (!is_digit) return UPSURGE_JSON_BAD_NUMBER;
    m->state = byte == '0' ? UPSURGE_STATE_ZERO : UPSURGE_STATE_INTEGER;
    return UPSURGE_JSON_OK;
  case UPSURGE_STATE_ZERO:
    if (is_digit) return UPSURGE_JSON_BAD_NUMBER;
    break;
  case UPSURGE_STATE_INTEGER:
    if (is_digit) return UPSURGE_JSON_OK;
    break;
  case UPSURGE_STATE_POINT:
    m->state = UPSURGE_STATE_FRACTION;
    return is_digit ? UPSURGE_JSON_OK : UPSURGE_JSON_BAD_NUMBER;
  case UPSURGE_STATE_FRACTION:
    if (is_digit) return UPSURGE_JSON_OK;
    break;
  case UPSURGE_STATE_E:
    if (byte == '+' || byte == '-') {
      m->state = UPSURGE_STATE_E_SIGN;
      return UPSURGE_JSON_OK;
    }
    /* fall through */
  case UPSURGE_STATE_E_SIGN:
    m->state = UPSURGE_STATE_EXPONENT;
    return is_digit ? UPSURGE_JSON_OK : UPSURGE_JSON_BAD_NUMBER;
  default:
    if (is_digit) return UPSURGE_JSON_OK;
    m->state = UPSURGE_STATE_AFTER;
    return UPSURGE_JSON_DONE;
  }
  if (byte == '.' && m->state != UPSURGE_STATE_FRACTION) {
    m->state = UPSURGE_STATE_POINT;
    return UPSURGE_JSON_OK;
  }
  if ((byte | 0x20) == 'e') {
    m->state = UPSURGE_STATE_E;
    return UPSURGE_JSON_OK;
  }
  m->state = UPSURGE_STATE_AFTER;
  return UPSURGE_JSON_DONE;
}

/* Takes one structural byte (no white space). */
static inline int upsurge_json_machine_structure(upsurge_json_machine *m, uint8_t byte) {
  bool in_object = upsurge_json_machine_in_object(m);
  switch (m->state) {
  case UPSURGE_STATE_KEY_OR_END:
    if (byte == '}') { upsurge_json_machine_close(m); return UPSURGE_JSON_OK; }
    /* fall through */
  case UPSURGE_STATE_KEY:
    if (byte != '"') return UPSURGE_JSON_NO_KEY;
    m->state = UPSURGE_STATE_STRING;
    m->is_key = true;
    return UPSURGE_JSON_OK;
  case UPSURGE_STATE_COLON:
    if (byte != ':') return UPSURGE_JSON_NO_COLON;
    m->state = UPSURGE_STATE_VALUE;
    return UPSURGE_JSON_OK;
  case UPSURGE_STATE_AFTER:
    if (m->depth == 0) return UPSURGE_JSON_TRAILING;
    if (byte == ',') {
      m->state = in_object ? UPSURGE_STATE_KEY : UPSURGE_STATE_VALUE;
    } else if (byte == (in_object ? '}' : ']')) {
      upsurge_json_machine_close(m);
    } else {
      return in_object ? UPSURGE_JSON_NO_COMMA_IN_OBJECT : UPSURGE_JSON_NO_COMMA_IN_ARRAY;
    }
    return UPSURGE_JSON_OK;
  default:
    if (m->state == UPSURGE_STATE_VALUE_OR_END && byte == ']') {
      upsurge_json_machine_close(m);
      return UPSURGE_JSON_OK;
    }
    return upsurge_json_machine_begin(m, byte);
  }
}

/* Whether the machine must stop before the byte with which a key or value begins. */
static inline int upsurge_json_machine_stop(upsurge_json_machine *m, uint8_t byte) {
  if (m->depth > m->watch_depth) return UPSURGE_JSON_OK;
  bool is_key = m->state == UPSURGE_STATE_KEY || m->state == UPSURGE_STATE_KEY_OR_END;
  bool is_value = m->state == UPSURGE_STATE_VALUE || m->state == UPSURGE_STATE_VALUE_OR_END;
  if (is_key) return byte == '"' ? UPSURGE_JSON_AT_KEY : UPSURGE_JSON_OK;
  if (!is_value || (m->state == UPSURGE_STATE_VALUE_OR_END && byte == ']')) return UPSURGE_JSON_OK;
  if (!m->is_passing) return UPSURGE_JSON_AT_VALUE;
  m->is_passing = false;
  return UPSURGE_JSON_OK;
}

/* Goes on from `*at`, which is moved to where it stopped. Returns OK at the end of the bytes, DONE behind the
 * outermost value when `stops_when_done`, AT_KEY or AT_VALUE before a watched place, or a fault. */
static int upsurge_json_machine_run(upsurge_json_machine *m, const uint8_t **at, const uint8_t *end,
                                    bool stops_when_done) __attribute__((unused));
static int upsurge_json_machine_run(upsurge_json_machine *m, const uint8_t **at, const uint8_t *end,
                                    bool stops_when_done) {
  const uint8_t *p = *at;
  int found = UPSURGE_JSON_OK;
  while (found == UPSURGE_JSON_OK) {
    if (stops_when_done && m->state == UPSURGE_STATE_AFTER && m->depth == 0) {
      found = UPSURGE_JSON_DONE;
      break;
    }
    if (p == end) break;
    if (m->state < UPSURGE_STATE_STRING) {
      if (upsurge_json_is_space(*p)) { p++; continue; }
      found = upsurge_json_machine_stop(m, *p);
      if (found == UPSURGE_JSON_OK) found = upsurge_json_machine_structure(m, *p);
      if (found == UPSURGE_JSON_OK) p++;
    } else if (m->state <= UPSURGE_STATE_UTF8) {
      found = upsurge_json_machine_string(m, &p, end);
    } else if (m->state == UPSURGE_STATE_LITERAL) {
      const char *word = upsurge_json_literals[m->literal];
      if (*p != (uint8_t)word[m->literal_count]) { found = UPSURGE_JSON_BAD_LITERAL; break; }
      p++;
      if (!word[++m->literal_count]) m->state = UPSURGE_STATE_AFTER;
    } else {
      found = upsurge_json_machine_number(m, *p);
      if (found == UPSURGE_JSON_OK) p++;
      if (found == UPSURGE_JSON_DONE) found = UPSURGE_JSON_OK;
    }
  }
  *at = p;
  return found;
}

/* Whether what was read so far is a whole value: nothing open, and no string or literal unfinished. */
static inline bool upsurge_json_machine_is_whole(const upsurge_json_machine *m) {
  return m->depth == 0 && (m->state == UPSURGE_STATE_AFTER || m->state == UPSURGE_STATE_ZERO ||
                           m->state == UPSURGE_STATE_INTEGER || m->state == UPSURGE_STATE_FRACTION ||
                           m->state == UPSURGE_STATE_EXPONENT);
}

#endif
