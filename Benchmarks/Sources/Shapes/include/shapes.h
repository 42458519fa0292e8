#ifndef SHAPES_H
#define SHAPES_H

#include <stdbool.h>
#include <stddef.h>

// The tables that the benchmarks generate and load. The generator writes a shape's columns in this order,
// the floor program reads them in this order, and `generate SHAPE ddl` prints the CREATE TABLE for peers.

enum { shape_column_limit = 32 };

typedef enum { column_integer, column_real, column_text } column_type;

typedef struct {
  const char *name;
  column_type type;
  bool nullable;  // an empty CSV field or a JSON null may stand here
} shape_column;

typedef struct {
  const char *name;             // also the table's name
  const shape_column *columns;  // the first one is the primary key
  int column_count;
} shape;

// The shape of that name, or NULL.
const shape *shape_named(const char *name);

// "INTEGER", "REAL" or "TEXT".
const char *column_type_name(column_type type);

// Writes the shape's CREATE TABLE into `text`; false when it does not fit in `capacity` bytes.
bool shape_create_table(const shape *shape, char *text, size_t capacity);

#endif
