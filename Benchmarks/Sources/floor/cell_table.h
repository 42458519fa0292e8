#ifndef CELL_TABLE_H
#define CELL_TABLE_H

#include <sqlite3.h>

#include "cell.h"

// The rows that the virtual table `cell_rows` shows at the moment.
typedef struct {
  const cell *cells;  // row by row
  long row_count;
  int column_count;
} cell_batch;

// Makes the table, whose columns are c0, c1, …, known to the connection. The batch must outlive it.
int register_cell_table(sqlite3 *database, const cell_batch *batch);

#endif
