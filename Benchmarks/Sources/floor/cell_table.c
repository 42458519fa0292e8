// An eponymous virtual table over typed rows in memory, so that one INSERT … SELECT takes a whole batch: nothing is
// bound, and the statement runs once. https://www.sqlite.org/vtab.html

#include "cell_table.h"

#include <stdlib.h>

typedef struct {
  sqlite3_vtab base;
  const cell_batch *batch;
} cell_table;

typedef struct {
  sqlite3_vtab_cursor base;
  const cell *row;
  const cell *end;
  int column_count;
} cell_cursor;

static int connect_table(
  sqlite3 *database, void *batch, int count, const char *const *arguments, sqlite3_vtab **table, char **message) {
  (void)count, (void)arguments, (void)message;
  const cell_batch *rows = batch;
  sqlite3_str *sql = sqlite3_str_new(database);
  for (int column = 0; column < rows->column_count; column++) {
    sqlite3_str_appendf(sql, "%sc%d", column > 0 ? "," : "CREATE TABLE x(", column);
  }
  sqlite3_str_appendall(sql, ")");
  char *text = sqlite3_str_finish(sql);
  int code = sqlite3_declare_vtab(database, text);
  sqlite3_free(text);
  cell_table *made = code == SQLITE_OK ? calloc(1, sizeof *made) : NULL;
  if (made == NULL) return code == SQLITE_OK ? SQLITE_NOMEM : code;
  made->batch = rows;
  *table = &made->base;
  return SQLITE_OK;
}

static int disconnect_table(sqlite3_vtab *table) {
  free(table);
  return SQLITE_OK;
}

static int best_index(sqlite3_vtab *table, sqlite3_index_info *info) {
  info->estimatedRows = ((cell_table *)table)->batch->row_count;
  return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **cursor) {
  (void)table;
  cell_cursor *made = calloc(1, sizeof *made);
  if (made == NULL) return SQLITE_NOMEM;
  *cursor = &made->base;
  return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor) {
  free(cursor);
  return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *text, int count, sqlite3_value **values) {
  (void)number, (void)text, (void)count, (void)values;
  cell_cursor *cursor = (cell_cursor *)base;
  const cell_batch *batch = ((cell_table *)base->pVtab)->batch;
  cursor->row = batch->cells;
  cursor->end = batch->cells + batch->row_count * batch->column_count;
  cursor->column_count = batch->column_count;
  return SQLITE_OK;
}

static int next_row(sqlite3_vtab_cursor *base) {
  cell_cursor *cursor = (cell_cursor *)base;
  cursor->row += cursor->column_count;
  return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *base) {
  cell_cursor *cursor = (cell_cursor *)base;
  return cursor->row >= cursor->end;
}

static int put_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
  const cell *cell = ((cell_cursor *)base)->row + column;
  switch (cell->kind) {
  case cell_integer: sqlite3_result_int64(context, cell->integer); break;
  case cell_real: sqlite3_result_double(context, cell->real); break;
  case cell_text: sqlite3_result_text(context, cell->text, (int)cell->length, SQLITE_STATIC); break;
  default: sqlite3_result_null(context); break;
  }
  return SQLITE_OK;
}

static int put_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid) {
  cell_cursor *cursor = (cell_cursor *)base;
  *rowid = cursor->end - cursor->row;
  return SQLITE_OK;
}

// Without xCreate it needs no CREATE VIRTUAL TABLE.
static const sqlite3_module module = {
  .xConnect = connect_table, .xBestIndex = best_index, .xDisconnect = disconnect_table, .xOpen = open_cursor,
  .xClose = close_cursor, .xFilter = filter, .xNext = next_row, .xEof = is_at_end, .xColumn = put_column,
  .xRowid = put_rowid};

int register_cell_table(sqlite3 *database, const cell_batch *batch) {
  return sqlite3_create_module_v2(database, "cell_rows", &module, (void *)batch, NULL);
}
