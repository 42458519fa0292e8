#ifndef LOADER_H
#define LOADER_H

#include <sqlite3.h>

#include "cell_table.h"
#include "options.h"

typedef struct {
  double seconds;      // from opening the database to after the last checkpoint and the close
  long checkpoints;    // between transactions
  int wal_peak_pages;  // most pages a commit left in the WAL
} load_result;

// Writes rows in transactions of options->rows_per_transaction, which it begins, commits and checkpoints by itself.
typedef struct loader {
  const floor_options *options;
  sqlite3 *database;
  sqlite3_stmt *single;  // one row
  sqlite3_stmt *many;    // rows_per_statement rows by VALUES, or all rows of `batch` by SELECT, or NULL
  cell_batch batch;      // what the virtual table shows
  long open_row_count;   // of the transaction, 0: none is open
  int wal_pages;         // after the last commit, by SQLite's own count
  double start_seconds;
  load_result result;
} loader;

// Opens the database, whose time begins here, and creates the table if it is missing. An upsert leaves equal rows
// alone. False after printing why not.
bool loader_open(loader *loader, const floor_options *options, const char *path, floor_way way, bool is_upsert);
bool loader_write(loader *loader, const cell *cells, long row_count);
// Commits, checkpoints and closes, also after a failure; false then.
bool loader_close(loader *loader, bool is_whole);

double now_seconds(void);

#endif
