#ifndef ROWS_H
#define ROWS_H

#include "cell.h"
#include "shapes.h"

// A whole file, typed, in memory.
typedef struct {
  char *bytes;      // the file, which the texts point into
  char *unquoted;   // the texts that had quotes inside
  cell *cells;      // row by row
  long row_count;
  int column_count;
} row_set;

// Reads a whole CSV with a header line and exactly the shape's columns. False after printing why not.
bool read_rows(const char *path, const shape *shape, row_set *rows);
void free_rows(row_set *rows);

#endif
