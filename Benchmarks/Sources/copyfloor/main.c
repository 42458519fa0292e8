// The floor of a load into PostgreSQL: reads a CSV with the least that can read it, and sends its rows by one COPY in the
// binary format, in one transaction. One thread does all. The table is there already, with or without a key.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binary_copy.h"
#include "reader.h"

enum { rows_per_batch = 1024 };

static const char usage[] =
  "usage: copyfloor SHAPE CSV URL TABLE\n"
  "\n"
  "Copies a CSV as `generate SHAPE csv` writes it into a table of PostgreSQL that has the shape's columns: bigint,\n"
  "double precision and text. Prints how many rows.\n";

static bool copy_rows(binary_copy *copy, reader *reader, cell *cells) {
  long count;
  while ((count = reader_next(reader, cells, rows_per_batch)) > 0) {
    for (long row = 0; row < count; row++) {
      if (!binary_copy_put(copy, cells + row * reader->shape->column_count)) return false;
    }
  }
  return count == 0;
}

int main(int argument_count, char **arguments) {
  const shape *shape = argument_count == 5 ? shape_named(arguments[1]) : NULL;
  if (shape == NULL) {
    fputs(usage, stderr);
    return 64;
  }
  reader reader = {.descriptor = -1};
  binary_copy copy;
  cell *cells = calloc((size_t)rows_per_batch * (size_t)shape->column_count, sizeof(cell));
  bool is_whole = cells != NULL && reader_open(&reader, arguments[2], shape, block_size)
    && binary_copy_open(&copy, arguments[3], arguments[4], shape) && copy_rows(&copy, &reader, cells)
    && binary_copy_close(&copy);
  if (is_whole) printf("%ld\n", reader.row_count);
  reader_close(&reader);
  free(cells);
  return is_whole ? 0 : 1;
}
