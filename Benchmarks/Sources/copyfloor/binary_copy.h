#ifndef BINARY_COPY_H
#define BINARY_COPY_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stddef.h>

#include "cell.h"
#include "shapes.h"

// A COPY … FROM STDIN (FORMAT binary) of one table (PostgreSQL's manual, COPY, "Binary Format").
typedef struct {
  PGconn *connection;
  const shape *shape;
  char *bytes;    // what is not sent yet
  size_t used;
} binary_copy;

// Each is false after printing why not.
bool binary_copy_open(binary_copy *copy, const char *url, const char *table, const shape *shape);

// One row: as many cells as the shape has columns.
bool binary_copy_put(binary_copy *copy, const cell *cells);

// Ends the COPY, which commits it, and the connection.
bool binary_copy_close(binary_copy *copy);

#endif
