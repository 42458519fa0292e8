#ifndef ROWS_H
#define ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "shapes.h"

typedef enum { cell_null, cell_integer, cell_real, cell_text } cell_kind;

// One typed value, 16 bytes.
typedef struct {
  uint32_t kind;
  uint32_t length;  // bytes of a text
  union {
    int64_t integer;
    double real;
    const char *text;  // into the file's bytes
  };
} cell;

typedef struct {
  char *bytes;      // the file, which the texts point into
  cell *cells;      // row by row
  long row_count;
  int column_count;
} row_set;

// Reads a whole CSV with a header line and exactly the shape's columns. False after printing why not.
bool read_rows(const char *path, const shape *shape, row_set *rows);
void free_rows(row_set *rows);

#endif
