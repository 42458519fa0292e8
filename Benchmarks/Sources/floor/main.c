// The floor: what SQLite costs when nothing else does. Rows lie typed in memory before the clock starts; one thread
// binds and steps. `upsurge load`, which also reads and parses, is measured against the better of the two ways.

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "loader.h"

typedef struct {
  const char *name;
  int rows_per_statement;
  load_result result;
} floor_run;

static bool is_absent(const char *path) {
  if (access(path, F_OK) != 0) return true;
  fprintf(stderr, "floor: %s exists; name a file that does not\n", path);
  return false;
}

// Fills the table first when there is an --existing delivery; only the second load is timed.
static bool run_once(const floor_options *options, const char *database, const row_set *rows, floor_run *run) {
  if (!is_absent(database)) return false;
  if (options->existing != NULL) {
    row_set existing;
    if (!read_rows(options->existing, options->shape, &existing)) return false;
    bool is_filled = load_rows(options, database, &existing, 1, false, &run->result);
    free_rows(&existing);
    if (!is_filled) return false;
  }
  return load_rows(options, database, rows, run->rows_per_statement, options->existing != NULL, &run->result);
}

static void print_run(const floor_run *run, long row_count) {
  printf(
    "{\"mode\":\"%s\",\"rows_per_statement\":%d,\"seconds\":%.6f,\"rows_per_second\":%.0f,\"checkpoints\":%ld,"
    "\"wal_peak_pages\":%d}",
    run->name, run->rows_per_statement, run->result.seconds, (double)row_count / run->result.seconds,
    run->result.checkpoints, run->result.wal_peak_pages);
}

static void print_report(const floor_options *options, const floor_run *runs, int run_count, long row_count) {
  const floor_run *best = run_count > 1 && runs[1].result.seconds < runs[0].result.seconds ? &runs[1] : &runs[0];
  printf(
    "{\"program\":\"floor\",\"shape\":\"%s\",\"operation\":\"%s\",\"rows\":%ld,\"page_size\":%d,\"cache_kib\":%d,"
    "\"checkpoint_pages\":%d,\"rows_per_transaction\":%d,\"conflict\":\"%s\",\"sqlite\":\"%s\",\"best\":\"%s\","
    "\"seconds\":%.6f,\"rows_per_second\":%.0f,\"runs\":[",
    options->shape->name, options->existing != NULL ? "upsert" : "insert", row_count, options->page_size,
    options->cache_kib, options->checkpoint_pages, options->rows_per_transaction,
    options->conflict[0] == 0 ? "ABORT" : options->conflict + strlen(" OR "), sqlite3_libversion(), best->name,
    best->result.seconds, (double)row_count / best->result.seconds);
  for (int index = 0; index < run_count; index++) {
    if (index > 0) putchar(',');
    print_run(&runs[index], row_count);
  }
  puts("]}");
}

int main(int argument_count, char **arguments) {
  floor_options options;
  row_set rows;
  if (!parse_options(argument_count, arguments, &options)) return 64;
  if (!read_rows(options.csv, options.shape, &rows)) return 66;
  floor_run runs[2] = {{.name = "single", .rows_per_statement = 1},
                       {.name = "multi", .rows_per_statement = options.rows_per_statement}};
  int first = options.mode == mode_multi ? 1 : 0;
  int last = options.mode == mode_single ? 0 : 1;
  for (int index = first; index <= last; index++) {
    char database[4096];
    snprintf(
      database, sizeof database, "%s%s%s", options.database, options.mode == mode_best ? "." : "",
      options.mode == mode_best ? runs[index].name : "");
    if (!run_once(&options, database, &rows, &runs[index])) return 1;
  }
  print_report(&options, runs + first, last - first + 1, rows.row_count);
  free_rows(&rows);
  return 0;
}
