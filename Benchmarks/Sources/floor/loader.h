#ifndef LOADER_H
#define LOADER_H

#include "options.h"
#include "rows.h"

typedef struct {
  double seconds;      // from opening the database to after the last checkpoint and the close
  long checkpoints;    // between transactions
  int wal_peak_pages;  // most pages a commit left in the WAL
} load_result;

// Opens the database, creates the table if it is missing, writes all rows, checkpoints and closes. An upsert leaves
// equal rows alone. False after printing why not.
bool load_rows(
  const floor_options *options, const char *database, const row_set *rows, int rows_per_statement, bool is_upsert,
  load_result *result);

#endif
