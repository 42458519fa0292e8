#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>

#include "shapes.h"

// How rows reach a statement.
typedef enum { way_single, way_multi, way_virtual, way_count } floor_way;

// What is measured: rows in memory by one way or by all of them; a file by the way of --way; parts of that alone.
typedef enum { mode_memory, mode_best, mode_file, mode_scan, mode_decompress } floor_mode;

// What one run of the floor does; every size has its unit in its name.
typedef struct {
  floor_mode mode;
  floor_way way;         // of modes memory and file
  const shape *shape;
  const char *input;     // the rows to write, or what to decompress
  const char *existing;  // rows written before the clock starts, or NULL: with them the run is a keyed upsert
  const char *database;  // must not exist; mode `best` appends .single, .multi and .virtual
  const char *conflict;  // "" or " OR FAIL", " OR ROLLBACK": inserts only
  int page_size;         // bytes
  int cache_kib;
  int checkpoint_pages;
  int rows_per_statement;  // of way multi
  int rows_per_transaction;
  int rows_per_batch;      // of mode file: read at once
} floor_options;

extern const char *const way_names[way_count];

// False after printing what is wrong, or the usage, to stderr.
bool parse_options(int argument_count, char **arguments, floor_options *options);

#endif
