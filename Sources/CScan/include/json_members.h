/* The usual members of an object, straight into cells: a predicted key, a colon, a plain value, a comma.
 *
 * Whatever is not usual (another key, a nested value, a duplicate, a number that needs care, a fault) stops the
 * loop in front of its member with nothing of it stored, and the general reader goes on from there. So this file
 * decides nothing by itself, and switching it off changes speed only.
 */
#ifndef UPSURGE_JSON_MEMBERS_H
#define UPSURGE_JSON_MEMBERS_H

#include "json_string.h"
#include "json_value.h"
#include "number.h"

/* A key that was met before; see JSONKeyTable. */
typedef struct {
  /* The key's bytes and its closing quote, and the first eight of them, zeros after their end. */
  uint8_t *bytes;
  size_t byte_count;
  uint64_t head;
  /* The reading in which the key was met last. */
  uint64_t last_reading;
  /* The key that followed last time in the same object; the first key of the object that is the value; or -1. */
  int32_t next, first_child;
  /* The key of the object around; 0 is the record. */
  int32_t parent;
  /* The column, or a mark below zero. */
  int32_t slot;
  /* While objects are flattened, the keys that the record has in the object that is the value: the one met last; from
   * each, the one met before. Both say so only for keys whose `last_reading` is the record's. */
  int32_t first_touched, next_touched;
  /* Bytes of the names of the key and the objects around it, with what stands between them. */
  uint32_t path_byte_count;
  /* `Affinity.rawValue` of the column. */
  uint8_t affinity;
} upsurge_json_key;

/* `Cell` as Swift lays it out. */
typedef struct {
  uint8_t kind, is_in_spill;
  uint32_t byte_count;
  uint64_t payload;
} upsurge_cell;

enum {
  UPSURGE_CELL_ABSENT = 0,
  UPSURGE_CELL_NULL = 1,
  UPSURGE_CELL_INTEGER = 2,
  UPSURGE_CELL_REAL = 3,
  UPSURGE_CELL_TEXT = 4,
  UPSURGE_AFFINITY_TEXT = 1,
  UPSURGE_AFFINITY_NUMERIC = 2,
  UPSURGE_AFFINITY_REAL = 4,
  UPSURGE_SLOT_SKIPPED = -2
};

/* Where members are read from and stored to. */
typedef struct {
  /* `pause` is at most `end`: no member is begun behind it. */
  const uint8_t *base, *end, *limit, *pause;
  upsurge_json_key *keys;
  void *row;
  uint8_t *spill;
  size_t spill_byte_count;
  size_t filled_count;
  uint64_t reading;
  /* The key before; -1 at an object's begin. */
  int32_t previous;
  /* The loop stopped behind a value, not in front of a key. */
  bool is_behind_value;
} upsurge_json_members;

/* Reads a string into `cell`; NULL leaves it to the general reader. */
static inline const uint8_t *upsurge_json_member_string(upsurge_json_members *m, const uint8_t *p, uint8_t affinity,
                                                        bool is_stored, upsurge_cell *cell) {
  bool has_high = false;
  const uint8_t *stop = upsurge_json_skip_plain(p, m->limit, &has_high);
  if (stop >= m->end || (is_stored && affinity >= UPSURGE_AFFINITY_NUMERIC)) return NULL;
  cell->kind = UPSURGE_CELL_TEXT;
  if (*stop == '"') {
    if (__builtin_expect(has_high, 0) && !upsurge_json_utf8_valid(p, stop)) return NULL;
    cell->byte_count = (uint32_t)(stop - p);
    cell->payload = (uint64_t)(p - m->base);
    return stop + 1;
  }
  upsurge_json_token token;
  if (upsurge_json_read_string(p, m->end, m->limit, &token) != UPSURGE_JSON_OK) return NULL;
  if (!is_stored) return token.next;
  ptrdiff_t count = upsurge_json_unescape(p, token.end, m->spill + m->spill_byte_count);
  if (count < 0) return NULL;
  cell->is_in_spill = 1;
  cell->byte_count = (uint32_t)count;
  cell->payload = m->spill_byte_count;
  m->spill_byte_count += (size_t)count;
  return token.next;
}

/* Reads a number of few digits without exponent into `cell`; NULL leaves it to the general reader. */
static inline const uint8_t *upsurge_json_member_number(const upsurge_json_members *m, const uint8_t *p,
                                                        uint8_t affinity, upsurge_cell *cell) {
  const uint8_t *start = p, *end = m->end;
  bool negative = *p == '-';
  p += negative;
  const uint8_t *digits = p;
  uint64_t value = 0;
  while (p < end && upsurge_is_digit(*p)) value = value * 10 + (uint64_t)(*p++ - '0');
  size_t count = (size_t)(p - digits);
  if (count - 1 >= 15 || (*digits == '0' && (count > 1 || negative)) || p == end) return NULL;
  if (*p == '.') {
    const uint8_t *fraction = ++p;
    while (p < end && upsurge_is_digit(*p)) value = value * 10 + (uint64_t)(*p++ - '0');
    size_t places = (size_t)(p - fraction);
    if (places == 0 || count + places > 15) return NULL;
    upsurge_decimal_fast(value, -(int64_t)places, negative, &cell->payload);
    cell->kind = UPSURGE_CELL_REAL;
  } else {
    cell->kind = UPSURGE_CELL_INTEGER;
    cell->payload = negative ? 0 - value : value;
  }
  if (affinity == UPSURGE_AFFINITY_TEXT) {
    cell->kind = UPSURGE_CELL_TEXT;
    cell->byte_count = (uint32_t)(p - start);
    cell->payload = (uint64_t)(start - m->base);
  }
  return p;
}

static inline const uint8_t *upsurge_json_member_word(const uint8_t *p, const uint8_t *end, const char *word,
                                                      size_t count) {
  return (size_t)(end - p) >= count && memcmp(p, word, count) == 0 ? p + count : NULL;
}

/* Reads the plain value at `p` into `cell`; NULL leaves it to the general reader. */
static inline const uint8_t *upsurge_json_member_value(upsurge_json_members *m, const uint8_t *p, uint8_t affinity,
                                                       bool is_stored, upsurge_cell *cell) {
  switch (*p) {
  case '"': return upsurge_json_member_string(m, p + 1, affinity, is_stored, cell);
  case '-': case '0': case '1': case '2': case '3': case '4':
  case '5': case '6': case '7': case '8': case '9': return upsurge_json_member_number(m, p, affinity, cell);
  case 'n':
    cell->kind = UPSURGE_CELL_NULL;
    return upsurge_json_member_word(p, m->end, "null", 4);
  case 't':
    cell->kind = UPSURGE_CELL_INTEGER;
    cell->payload = 1;
    return upsurge_json_member_word(p, m->end, "true", 4);
  case 'f':
    cell->kind = UPSURGE_CELL_INTEGER;
    return upsurge_json_member_word(p, m->end, "false", 5);
  default: return NULL;
  }
}

/* Reads members from `p`, which is where a key may begin, as long as they are usual. Returns where it stopped.
 * One copy for objects that are flattened and for others, so that all it calls becomes part of it. */
static const uint8_t *upsurge_json_read_members(upsurge_json_members *members, const uint8_t *p, int32_t parent,
                                                bool is_flattening) __attribute__((unused, noinline));
static const uint8_t *upsurge_json_read_members(upsurge_json_members *members, const uint8_t *p, int32_t parent,
                                                bool is_flattening) {
  upsurge_json_members m = *members; /* a copy whose address stays here lives in registers */
  const uint8_t *end = m.end;
  upsurge_cell *row = (upsurge_cell *)m.row;
  m.is_behind_value = false;
  for (;;) {
    if (p >= m.pause || *p != '"') break;
    int32_t predicted = m.previous < 0 ? m.keys[parent].first_child : m.keys[m.previous].next;
    if (predicted < 0) break;
    upsurge_json_key *key = m.keys + predicted;
    if (!upsurge_json_key_is(p + 1, m.limit, key->bytes, key->byte_count, key->head)) break;
    const uint8_t *q = p + 1 + key->byte_count;
    if (q < end && *q != ':') q = upsurge_json_skip_space(q, end);
    if (q >= end || *q != ':') break;
    q++;
    if (q < end && *q <= ' ') q = upsurge_json_skip_space(q, end);
    bool is_stored = key->slot >= 0;
    if (q >= end || (!is_stored && key->slot != UPSURGE_SLOT_SKIPPED)) break;
    if (is_stored && row[key->slot].kind != UPSURGE_CELL_ABSENT) break;
    if (key->first_child >= 0 && key->last_reading == m.reading) break;
    size_t spill_byte_count = m.spill_byte_count;
    upsurge_cell cell = {0, 0, 0, 0};
    q = upsurge_json_member_value(&m, q, key->affinity, is_stored, &cell);
    if (q && q < end && *q <= ' ') q = upsurge_json_skip_space(q, end);
    if (!q || q >= end || (*q != ',' && *q != '}')) {
      m.spill_byte_count = spill_byte_count;
      break;
    }
    if (is_stored) {
      row[key->slot] = cell;
      m.filled_count++;
    }
    if (__builtin_expect(is_flattening, 0) && key->last_reading != m.reading) {
      key->next_touched = m.keys[parent].first_touched;
      m.keys[parent].first_touched = predicted;
    }
    key->last_reading = m.reading;
    m.previous = predicted;
    if (*q == '}') {
      m.is_behind_value = true;
      p = q;
      break;
    }
    p = q + 1;
    if (p < end && *p <= ' ') p = upsurge_json_skip_space(p, end);
  }
  *members = m;
  return p;
}

#endif
