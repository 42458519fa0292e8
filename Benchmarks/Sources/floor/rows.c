#include "rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "reader.h"

// All rows of the reader, whose one block holds the file: a row needs a line at least.
static bool take_all(reader *reader, row_set *rows) {
  size_t line_count = 1;
  for (size_t index = 0; index < reader->end; index++) line_count += reader->bytes[index] == '\n';
  rows->cells = calloc(line_count * (size_t)rows->column_count, sizeof(cell));
  if (rows->cells == NULL) {
    fprintf(stderr, "floor: no memory for %zu rows\n", line_count);
    return false;
  }
  // One call, because the next one would write over the unquoted texts.
  rows->row_count = reader_next(reader, rows->cells, (long)line_count);
  if (rows->row_count < 0) return false;
  cell surplus[shape_column_limit];
  return reader_next(reader, surplus, 1) == 0;
}

bool read_rows(const char *path, const shape *shape, row_set *rows) {
  *rows = (row_set){.column_count = shape->column_count};
  struct stat status;
  if (stat(path, &status) != 0) {
    fprintf(stderr, "floor: cannot read %s: %s\n", path, strerror(errno));
    return false;
  }
  reader reader;
  bool is_read = reader_open(&reader, path, shape, (size_t)status.st_size + 1) && take_all(&reader, rows);
  rows->bytes = reader.bytes;
  rows->unquoted = reader.unquoted;
  reader.bytes = reader.unquoted = NULL;  // the rows' now
  reader_close(&reader);
  if (!is_read) free_rows(rows);
  return is_read;
}

void free_rows(row_set *rows) {
  free(rows->cells);
  free(rows->bytes);
  free(rows->unquoted);
  *rows = (row_set){0};
}
