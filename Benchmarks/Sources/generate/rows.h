#ifndef ROWS_H
#define ROWS_H

#include "record_writer.h"

// What a generated delivery holds; equal settings give equal bytes on every machine.
typedef struct {
  uint64_t seed;
  uint64_t row_count;
  uint32_t changed_percent;  // of the rows, whose changeable columns differ from those with 0 here
} generation;

// Writes one record of the shape; `row` counts from 1.
void put_narrow_row(record_writer *writer, const generation *generation, uint64_t row);
void put_wide_row(record_writer *writer, const generation *generation, uint64_t row);

#endif
