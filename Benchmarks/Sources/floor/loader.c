#include "loader.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

double now_seconds(void) {
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
  if (pages > noted->result.wal_peak_pages) noted->result.wal_peak_pages = pages;
  return SQLITE_OK;
}

static bool open_database(loader *loader, const char *path) {
  const floor_options *options = loader->options;
  char sql[8192];
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

static void append_values(sqlite3_str *sql, const shape *shape, int row_count) {
  for (int row = 0; row < row_count; row++) {
    for (int column = 0; column < shape->column_count; column++) {
      sqlite3_str_appendall(sql, column > 0 ? ",?" : row > 0 ? ",(?" : " VALUES (?");
    }
    sqlite3_str_appendchar(sql, 1, ')');
  }
}

// Rows of the virtual table when `row_count` is 0. An upsert after a SELECT needs its WHERE to be read as one.
static bool prepare(loader *loader, int row_count, bool is_upsert, sqlite3_stmt **statement) {
  const shape *shape = loader->options->shape;
  sqlite3_str *sql = sqlite3_str_new(loader->database);
  sqlite3_str_appendf(sql, "INSERT%s INTO \"%w\"", is_upsert ? "" : loader->options->conflict, shape->name);
  if (row_count == 0) sqlite3_str_appendall(sql, " SELECT * FROM cell_rows WHERE true");
  else append_values(sql, shape, row_count);
  if (is_upsert) append_upsert(sql, shape);
  char *text = sqlite3_str_finish(sql);
  int code = sqlite3_prepare_v3(loader->database, text, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
  sqlite3_free(text);
  return code == SQLITE_OK || fails(loader, "prepare");
}

static bool prepare_way(loader *loader, floor_way way, bool is_upsert) {
  if (way == way_multi) {
    int row_count = loader->options->rows_per_statement;
    if (row_count > 1 && !prepare(loader, row_count, is_upsert, &loader->many)) return false;
  } else if (way == way_virtual) {
    int code = register_cell_table(loader->database, &loader->batch);
    return (code == SQLITE_OK || fails(loader, "virtual table")) && prepare(loader, 0, is_upsert, &loader->many);
  }
  return prepare(loader, 1, is_upsert, &loader->single);
}

bool loader_open(loader *loader, const floor_options *options, const char *path, floor_way way, bool is_upsert) {
  *loader = (struct loader){
    .options = options, .batch = {.column_count = options->shape->column_count}, .start_seconds = now_seconds()};
  return open_database(loader, path) && prepare_way(loader, way, is_upsert);
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

static bool insert(loader *loader, const cell *cells, long row_count) {
  int column_count = loader->options->shape->column_count;
  if (loader->single == NULL) {
    loader->batch.cells = cells;
    loader->batch.row_count = row_count;
    return step(loader, loader->many, NULL, 0);
  }
  long row = 0;
  if (loader->many != NULL) {
    int statement_rows = loader->options->rows_per_statement;
    for (; row + statement_rows <= row_count; row += statement_rows) {
      if (!step(loader, loader->many, cells + row * column_count, statement_rows * column_count)) return false;
    }
  }
  for (; row < row_count; row++) {
    if (!step(loader, loader->single, cells + row * column_count, column_count)) return false;
  }
  return true;
}

static bool commit(loader *loader) {
  loader->open_row_count = 0;
  if (!execute(loader, "COMMIT")) return false;
  if (loader->wal_pages < loader->options->checkpoint_pages) return true;
  int code = sqlite3_wal_checkpoint_v2(loader->database, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
  loader->result.checkpoints++;
  return code == SQLITE_OK || fails(loader, "checkpoint");
}

bool loader_write(loader *loader, const cell *cells, long row_count) {
  long limit = loader->options->rows_per_transaction;
  while (row_count > 0) {
    if (loader->open_row_count == 0 && !execute(loader, "BEGIN IMMEDIATE")) return false;
    long left = limit - loader->open_row_count;
    long count = row_count < left ? row_count : left;
    loader->open_row_count += count;
    if (!insert(loader, cells, count)) return false;
    if (loader->open_row_count == limit && !commit(loader)) return false;
    cells += count * loader->options->shape->column_count;
    row_count -= count;
  }
  return true;
}

bool loader_close(loader *loader, bool is_whole) {
  if (is_whole && loader->open_row_count > 0) is_whole = commit(loader);
  sqlite3_finalize(loader->single);
  sqlite3_finalize(loader->many);
  if (is_whole) {
    int code = sqlite3_wal_checkpoint_v2(loader->database, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    is_whole = code == SQLITE_OK || fails(loader, "last checkpoint");
  }
  is_whole = sqlite3_close(loader->database) == SQLITE_OK && is_whole;
  loader->result.seconds = now_seconds() - loader->start_seconds;
  return is_whole;
}
