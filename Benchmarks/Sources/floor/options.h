#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>

#include "shapes.h"

typedef enum { mode_single, mode_multi, mode_best } floor_mode;

// What one run of the floor does; every size has its unit in its name.
typedef struct {
  floor_mode mode;
  const shape *shape;
  const char *csv;       // the rows to write
  const char *existing;  // rows written before the clock starts, or NULL: with them the run is a keyed upsert
  const char *database;  // must not exist; mode `best` appends .single and .multi
  const char *conflict;  // "" or " OR FAIL", " OR ROLLBACK": inserts only
  int page_size;         // bytes
  int cache_kib;
  int checkpoint_pages;
  int rows_per_statement;  // of mode multi
  int rows_per_transaction;
} floor_options;

// False after printing what is wrong, or the usage, to stderr.
bool parse_options(int argument_count, char **arguments, floor_options *options);

#endif
