// A pull parser: each call goes on in the block where the last one stopped. A record that the block's end cuts is
// moved to the front and read again when the rest of it is there, so nothing is changed in place: a text with
// doubled quotes is written to `unquoted`.
//
// Decimals of up to 15 digits are the quotient of two integers that a double holds exactly, so one division rounds
// them correctly (Clinger, "How to read floating point numbers accurately", 1990); others go to strtod.

#include "reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { slack = 64, longest_number = 48 };

// Where a field or record stopped.
typedef enum { ended, cut, wrong } outcome;

typedef struct {
  const char *position;
  const char *end;   // of the block's bytes; a line feed stands there
  char *unquoted;    // where the next text with quotes inside goes
  bool is_last;      // nothing follows the block
} walk;

static const double powers[] = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

static inline bool is_digit(char byte) { return (unsigned char)(byte - '0') <= 9; }

// The first comma or line feed from `position` on, eight bytes at a time (Hacker's Delight 6-1; the lowest hit is
// exact, and the bytes of a word are in memory order on the machines that this runs on). One is at the block's end.
static inline const char *find_end(const char *position) {
  const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
  for (;; position += 8) {
    uint64_t word;
    memcpy(&word, position, 8);
    uint64_t comma = word ^ (ones * ','), feed = word ^ (ones * '\n');
    uint64_t hits = (((comma - ones) & ~comma) | ((feed - ones) & ~feed)) & tops;
    if (hits != 0) return position + (__builtin_ctzll(hits) >> 3);
  }
}

static outcome read_text(walk *walk, cell *cell) {
  const char *position = walk->position;
  if (*position != '"') {
    const char *end = find_end(position);
    cell->kind = end == position ? cell_null : cell_text;
    cell->length = (uint32_t)(end - position);
    cell->text = position;
    walk->position = end;
    return ended;
  }
  const char *start = ++position;
  cell->kind = cell_text;
  char *target = NULL;  // set by the first doubled quote
  for (;;) {
    const char *quote = memchr(position, '"', (size_t)(walk->end - position));
    if (quote == NULL || (quote + 1 == walk->end && !walk->is_last)) return cut;
    bool is_doubled = quote[1] == '"' && quote + 1 < walk->end;
    size_t count = (size_t)(quote - position) + is_doubled;
    if (is_doubled && target == NULL) target = walk->unquoted;
    if (target != NULL) {
      memcpy(target, position, count);
      target += count;
    }
    position = quote + 1 + is_doubled;
    if (is_doubled) continue;
    cell->text = target != NULL ? walk->unquoted : start;
    cell->length = (uint32_t)(target != NULL ? target - walk->unquoted : quote - start);
    if (target != NULL) walk->unquoted = target;
    walk->position = position;
    return ended;
  }
}

static outcome read_by_strtod(walk *walk, column_type type, cell *cell) {
  const char *end = find_end(walk->position);
  size_t length = (size_t)(end - walk->position);
  char text[longest_number + 1];
  if (length > longest_number || type != column_real) return wrong;
  memcpy(text, walk->position, length);
  text[length] = 0;
  char *stop;
  cell->real = strtod(text, &stop);
  walk->position = end;
  return *stop == 0 ? ended : wrong;
}

static inline outcome read_number(walk *walk, column_type type, cell *cell) {
  const char *position = walk->position;
  bool is_negative = *position == '-';
  position += is_negative;
  const char *digits = position;
  uint64_t value = 0;
  while (is_digit(*position)) value = value * 10 + (uint64_t)(*position++ - '0');
  long digit_count = position - digits, places = 0;
  if (digit_count == 0 && !is_negative && (*position == ',' || *position == '\n')) {
    cell->kind = cell_null;
    return ended;
  }
  if (type == column_integer) {
    cell->kind = cell_integer;
    cell->integer = is_negative ? -(int64_t)value : (int64_t)value;
    walk->position = position;
    return digit_count > 0 && digit_count <= 18 ? ended : wrong;
  }
  cell->kind = cell_real;
  if (*position == '.') {
    const char *point = position++;
    while (is_digit(*position)) value = value * 10 + (uint64_t)(*position++ - '0');
    places = position - point - 1;
  }
  bool is_whole = *position == ',' || *position == '\n';
  if (!is_whole || digit_count == 0 || digit_count + places > 15) return read_by_strtod(walk, type, cell);
  double magnitude = (double)value / powers[places];
  cell->real = is_negative ? -magnitude : magnitude;
  walk->position = position;
  return ended;
}

static outcome read_record(walk *walk, const shape *shape, cell *cells) {
  for (int column = 0; column < shape->column_count; column++) {
    column_type type = shape->columns[column].type;
    outcome outcome =
      type == column_text ? read_text(walk, &cells[column]) : read_number(walk, type, &cells[column]);
    if (walk->position >= walk->end && !walk->is_last) return cut;
    if (outcome != ended) return outcome;
    if (*walk->position != (column == shape->column_count - 1 ? '\n' : ',')) return wrong;
    walk->position++;
  }
  return ended;
}

static bool fails(const reader *reader, const char *what) {
  fprintf(stderr, "reader: %s: %s: %s\n", reader->path, what, strerror(errno));
  return false;
}

// Moves what is left to the front of the block and fills the rest of it.
static bool fill(reader *reader) {
  memmove(reader->bytes, reader->bytes + reader->start, reader->end - reader->start);
  reader->end -= reader->start;
  reader->start = 0;
  while (reader->end < reader->capacity) {
    ssize_t count = read(reader->descriptor, reader->bytes + reader->end, reader->capacity - reader->end);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fails(reader, "cannot read");
    reader->is_at_end = count == 0;
    if (count == 0) break;
    reader->end += (size_t)count;
  }
  memset(reader->bytes + reader->end, '\n', slack);  // ends every search
  return true;
}

bool reader_open(reader *reader, const char *path, const shape *shape, size_t capacity) {
  *reader = (struct reader){.path = path, .shape = shape, .capacity = capacity};
  reader->descriptor = open(path, O_RDONLY);
  if (reader->descriptor < 0) return fails(reader, "cannot open");
  reader->bytes = malloc(capacity + slack);
  reader->unquoted = malloc(capacity + slack);
  if (reader->bytes == NULL || reader->unquoted == NULL) return fails(reader, "no memory");
  if (!fill(reader)) return false;
  const char *header_end = memchr(reader->bytes, '\n', reader->end + 1);
  reader->start = (size_t)(header_end + 1 - reader->bytes);
  if (reader->start > reader->end) reader->start = reader->end;
  return true;
}

long reader_next(reader *reader, cell *cells, long row_limit) {
  for (;;) {
    walk walk = {
      .position = reader->bytes + reader->start, .end = reader->bytes + reader->end, .unquoted = reader->unquoted,
      .is_last = reader->is_at_end};
    long row_count = 0;
    outcome outcome = ended;
    while (row_count < row_limit && walk.position < walk.end && outcome == ended) {
      const char *start = walk.position;
      outcome = read_record(&walk, reader->shape, cells + row_count * reader->shape->column_count);
      if (outcome == ended) row_count++;
      else walk.position = start;
    }
    if (walk.position > walk.end) walk.position = walk.end;  // the file's last line has no line feed
    reader->start = (size_t)(walk.position - reader->bytes);
    reader->row_count += row_count;
    if (row_count > 0 && outcome != wrong) return row_count;
    bool is_full = reader->start == 0 && reader->end == reader->capacity;
    if (outcome == wrong || (outcome == cut && (reader->is_at_end || is_full))) {
      fprintf(
        stderr, "reader: %s: record %ld is not as `generate %s csv` writes it\n", reader->path, reader->row_count + 1,
        reader->shape->name);
      return -1;
    }
    if (reader->is_at_end) return 0;
    if (!fill(reader)) return -1;
  }
}

void reader_close(reader *reader) {
  if (reader->descriptor >= 0) close(reader->descriptor);
  free(reader->bytes);
  free(reader->unquoted);
  *reader = (struct reader){.descriptor = -1};
}
