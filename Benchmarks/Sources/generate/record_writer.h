#ifndef RECORD_WRITER_H
#define RECORD_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shapes.h"

// Writes the fields of one shape to stdout, as CSV or as NDJSON: one `put_` a column, then `end_record`.
typedef enum { format_csv, format_ndjson } record_format;

typedef struct {
  record_format format;
  const shape *shape;
  int column;       // of the field that comes next
  size_t used;      // bytes waiting in `buffer`
  size_t capacity;  // of `buffer`
  char *buffer;
} record_writer;

// False when there is no memory. Writes the header line of a CSV.
bool record_writer_open(record_writer *writer, const shape *shape, record_format format);

void put_null(record_writer *writer);
void put_integer(record_writer *writer, int64_t value);
// `scaled` / 10^`digits`, with exactly that many digits behind the point.
void put_decimal(record_writer *writer, int64_t scaled, int digits);
void put_text(record_writer *writer, const char *bytes, size_t length);

// Ends the record; false when stdout failed.
bool end_record(record_writer *writer);

// Writes what is left and frees the buffer; false when stdout failed.
bool record_writer_close(record_writer *writer);

#endif
