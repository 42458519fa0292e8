#include "rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  char *bytes = NULL;
  long end = -1;
  if (file != NULL && fseek(file, 0, SEEK_END) == 0) end = ftell(file);
  if (end >= 0 && fseek(file, 0, SEEK_SET) == 0) bytes = malloc((size_t)end + 1);
  if (bytes != NULL && fread(bytes, 1, (size_t)end, file) != (size_t)end) {
    free(bytes);
    bytes = NULL;
  }
  if (file != NULL) fclose(file);
  if (bytes == NULL) {
    fprintf(stderr, "floor: cannot read %s: %s\n", path, strerror(errno));
    return NULL;
  }
  bytes[end] = 0;
  *size = (size_t)end;
  return bytes;
}

// One field, unquoted in place, and where the byte behind it was. The byte itself is put into `terminator`
// and replaced by a zero, so that numbers can be converted where they stand.
typedef struct {
  char *start;
  size_t length;
  bool is_quoted;
  char terminator;
} field;

static char *next_field(char *position, field *field) {
  char *end = position;
  field->is_quoted = *position == '"';
  if (!field->is_quoted) {
    end += strcspn(end, ",\n");
    field->start = position;
    field->length = (size_t)(end - position);
  } else {
    char *target = ++end;
    field->start = target;
    while (*end != 0 && !(end[0] == '"' && end[1] != '"')) {
      if (*end == '"') end++;
      *target++ = *end++;
    }
    if (*end == '"') end++;
    field->length = (size_t)(target - field->start);
  }
  field->terminator = *end;
  if (*end == 0) return end;
  *end = 0;
  return end + 1;
}

static bool convert(const field *field, column_type type, cell *cell) {
  char *end = field->start + field->length;
  char *stop = end;
  if (field->length == 0 && !field->is_quoted) {
    cell->kind = cell_null;
  } else if (type == column_integer) {
    cell->kind = cell_integer;
    cell->integer = strtoll(field->start, &stop, 10);
  } else if (type == column_real) {
    cell->kind = cell_real;
    cell->real = strtod(field->start, &stop);
  } else {
    cell->kind = cell_text;
    cell->length = (uint32_t)field->length;
    cell->text = field->start;
  }
  return stop == end;
}

static bool fill_cells(char *position, const shape *shape, row_set *rows) {
  cell *cell = rows->cells;
  while (*position != 0) {
    for (int column = 0; column < shape->column_count; column++, cell++) {
      field field;
      position = next_field(position, &field);
      bool is_last = column == shape->column_count - 1;
      bool is_ended = is_last ? field.terminator != ',' : field.terminator == ',';
      if (!is_ended || !convert(&field, shape->columns[column].type, cell)) return false;
    }
    rows->row_count++;
  }
  return true;
}

bool read_rows(const char *path, const shape *shape, row_set *rows) {
  size_t size = 0;
  *rows = (row_set){.column_count = shape->column_count};
  rows->bytes = read_file(path, &size);
  if (rows->bytes == NULL) return false;
  size_t line_count = 1;  // at least as many as records
  for (size_t index = 0; index < size; index++) line_count += rows->bytes[index] == '\n';
  rows->cells = calloc(line_count * (size_t)shape->column_count, sizeof(cell));
  char *header_end = strchr(rows->bytes, '\n');
  if (rows->cells == NULL || header_end == NULL || !fill_cells(header_end + 1, shape, rows)) {
    fprintf(
      stderr, "floor: %s: record %ld is not as `generate %s csv` writes it\n", path, rows->row_count + 1, shape->name);
    free_rows(rows);
    return false;
  }
  return true;
}

void free_rows(row_set *rows) {
  free(rows->cells);
  free(rows->bytes);
  *rows = (row_set){0};
}
