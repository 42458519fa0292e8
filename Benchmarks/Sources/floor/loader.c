#include "loader.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
  sqlite3 *database;
  sqlite3_stmt *single;    // one row
  sqlite3_stmt *multi;     // rows_per_statement rows, or NULL
  int rows_per_statement;
  int wal_pages;           // after the last commit, by SQLite's own count
  load_result *result;
} loader;

static double now_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static bool fails(loader *loader, const char *action) {
  fprintf(stderr, "floor: %s: %s\n", action, sqlite3_errmsg(loader->database));
  return false;
}

static bool execute(loader *loader, const char *sql) {
  return sqlite3_exec(loader->database, sql, NULL, NULL, NULL) == SQLITE_OK || fails(loader, sql);
}

static int note_commit(void *context, sqlite3 *database, const char *schema, int pages) {
  (void)database, (void)schema;
  loader *noted = context;
  noted->wal_pages = pages;
  if (pages > noted->result->wal_peak_pages) noted->result->wal_peak_pages = pages;
  return SQLITE_OK;
}

static bool open_database(loader *loader, const floor_options *options, const char *path) {
  char sql[4096];
  if (sqlite3_open(path, &loader->database) != SQLITE_OK) return fails(loader, path);
  snprintf(
    sql, sizeof sql,
    "PRAGMA page_size=%d; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=0; "
    "PRAGMA secure_delete=OFF; PRAGMA cache_size=-%d",
    options->page_size, options->cache_kib);
  if (!execute(loader, sql)) return false;
  sqlite3_wal_hook(loader->database, note_commit, loader);
  char table[4096];
  if (!shape_create_table(options->shape, table, sizeof table)) return false;
  snprintf(sql, sizeof sql, "CREATE TABLE IF NOT EXISTS%s", table + strlen("CREATE TABLE"));
  return execute(loader, sql);
}

static void append_upsert(sqlite3_str *sql, const shape *shape) {
  sqlite3_str_appendf(sql, " ON CONFLICT(\"%w\") DO UPDATE SET ", shape->columns[0].name);
  for (int column = 1; column < shape->column_count; column++) {
    const char *name = shape->columns[column].name;
    sqlite3_str_appendf(sql, "%s\"%w\"=excluded.\"%w\"", column > 1 ? "," : "", name, name);
  }
  for (int column = 1; column < shape->column_count; column++) {
    const char *name = shape->columns[column].name;
    sqlite3_str_appendf(
      sql, "%s\"%w\".\"%w\" IS NOT excluded.\"%w\"", column > 1 ? " OR " : " WHERE ", shape->name, name, name);
  }
}

static bool prepare(
  loader *loader, const floor_options *options, int row_count, bool is_upsert, sqlite3_stmt **statement) {
  const shape *shape = options->shape;
  sqlite3_str *sql = sqlite3_str_new(loader->database);
  sqlite3_str_appendf(sql, "INSERT%s INTO \"%w\" VALUES ", is_upsert ? "" : options->conflict, shape->name);
  for (int row = 0; row < row_count; row++) {
    for (int column = 0; column < shape->column_count; column++) {
      sqlite3_str_appendall(sql, column > 0 ? ",?" : row > 0 ? ",(?" : "(?");
    }
    sqlite3_str_appendchar(sql, 1, ')');
  }
  if (is_upsert) append_upsert(sql, shape);
  char *text = sqlite3_str_finish(sql);
  int code = sqlite3_prepare_v3(loader->database, text, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
  sqlite3_free(text);
  return code == SQLITE_OK || fails(loader, "prepare");
}

static inline void bind(sqlite3_stmt *statement, int index, const cell *cell) {
  switch (cell->kind) {
  case cell_integer: sqlite3_bind_int64(statement, index, cell->integer); break;
  case cell_real: sqlite3_bind_double(statement, index, cell->real); break;
  case cell_text: sqlite3_bind_text(statement, index, cell->text, (int)cell->length, SQLITE_STATIC); break;
  default: sqlite3_bind_null(statement, index); break;
  }
}

static bool step(loader *loader, sqlite3_stmt *statement, const cell *cells, int cell_count) {
  for (int index = 0; index < cell_count; index++) bind(statement, index + 1, &cells[index]);
  int code = sqlite3_step(statement);
  sqlite3_reset(statement);
  return code == SQLITE_DONE || fails(loader, "insert");
}

static bool write_transaction(loader *loader, const cell *cells, int column_count, long row_count) {
  if (!execute(loader, "BEGIN IMMEDIATE")) return false;
  long row = 0;
  if (loader->multi != NULL) {
    int statement_cells = loader->rows_per_statement * column_count;
    for (; row + loader->rows_per_statement <= row_count; row += loader->rows_per_statement) {
      if (!step(loader, loader->multi, cells + row * column_count, statement_cells)) return false;
    }
  }
  for (; row < row_count; row++) {
    if (!step(loader, loader->single, cells + row * column_count, column_count)) return false;
  }
  return execute(loader, "COMMIT");
}

static bool write_rows(loader *loader, const floor_options *options, const row_set *rows) {
  for (long row = 0; row < rows->row_count; row += options->rows_per_transaction) {
    long left = rows->row_count - row;
    long count = left < options->rows_per_transaction ? left : options->rows_per_transaction;
    const cell *cells = rows->cells + row * rows->column_count;
    if (!write_transaction(loader, cells, rows->column_count, count)) return false;
    if (loader->wal_pages < options->checkpoint_pages) continue;
    int code = sqlite3_wal_checkpoint_v2(loader->database, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    if (code != SQLITE_OK) return fails(loader, "checkpoint");
    loader->result->checkpoints++;
  }
  return true;
}

bool load_rows(
  const floor_options *options, const char *database, const row_set *rows, int rows_per_statement, bool is_upsert,
  load_result *result) {
  *result = (load_result){0};
  loader loader = {.rows_per_statement = rows_per_statement, .result = result};
  double start = now_seconds();
  bool is_loaded =
    open_database(&loader, options, database) && prepare(&loader, options, 1, is_upsert, &loader.single)
    && (rows_per_statement == 1 || prepare(&loader, options, rows_per_statement, is_upsert, &loader.multi))
    && write_rows(&loader, options, rows);
  sqlite3_finalize(loader.single);
  sqlite3_finalize(loader.multi);
  if (is_loaded) {
    int code = sqlite3_wal_checkpoint_v2(loader.database, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    is_loaded = code == SQLITE_OK || fails(&loader, "last checkpoint");
  }
  is_loaded = sqlite3_close(loader.database) == SQLITE_OK && is_loaded;
  result->seconds = now_seconds() - start;
  return is_loaded;
}
