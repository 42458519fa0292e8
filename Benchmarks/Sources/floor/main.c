// The floor: what SQLite costs when nothing else does, with rows that lie typed in memory before the clock starts, and
// what it costs from the file with the least that can read it. One thread does all. `upsurge load` is measured
// against the best of the ways.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loader.h"
#include "reader.h"
#include "rows.h"
#include "stages.h"

typedef struct {
  floor_way way;
  long row_count;
  load_result result;
} floor_run;

static bool is_absent(const char *path) {
  if (access(path, F_OK) != 0) return true;
  fprintf(stderr, "floor: %s exists; name a file that does not\n", path);
  return false;
}

static bool load_rows(
  const floor_options *options, const char *database, const row_set *rows, bool is_upsert, floor_run *run) {
  loader loader;
  bool is_whole = loader_open(&loader, options, database, run->way, is_upsert)
    && loader_write(&loader, rows->cells, rows->row_count);
  is_whole = loader_close(&loader, is_whole);
  run->result = loader.result;
  run->row_count = rows->row_count;
  return is_whole;
}

// Fills the table from an --existing delivery; not timed.
static bool fill(const floor_options *options, const char *database) {
  if (options->existing == NULL) return true;
  row_set existing;
  floor_run run = {.way = way_single};
  bool is_filled =
    read_rows(options->existing, options->shape, &existing) && load_rows(options, database, &existing, false, &run);
  free_rows(&existing);
  return is_filled;
}

// Reads a batch, writes it, reads the next one.
static bool load_file(const floor_options *options, floor_run *run) {
  if (!is_absent(options->database) || !fill(options, options->database)) return false;
  loader loader;
  reader reader = {.descriptor = -1};
  cell *cells = calloc((size_t)options->rows_per_batch * (size_t)options->shape->column_count, sizeof(cell));
  long count = 0;
  bool is_whole = cells != NULL;
  if (!is_whole) return false;
  is_whole = loader_open(&loader, options, options->database, run->way, options->existing != NULL)
    && reader_open(&reader, options->input, options->shape, block_size);
  while (is_whole && (count = reader_next(&reader, cells, options->rows_per_batch)) > 0) {
    is_whole = loader_write(&loader, cells, count);
  }
  run->row_count = reader.row_count;
  is_whole = loader_close(&loader, is_whole && count == 0);
  run->result = loader.result;
  reader_close(&reader);
  free(cells);
  return is_whole;
}

// From memory by one way or all of them; how many runs there are, 0 after a failure.
static int load_memory(const floor_options *options, floor_run *runs) {
  row_set rows;
  if (!read_rows(options->input, options->shape, &rows)) return 0;
  bool is_best = options->mode == mode_best;
  int run_count = is_best ? way_count : 1;
  for (int index = 0; index < run_count; index++) {
    runs[index].way = is_best ? (floor_way)index : options->way;
    char database[4096];
    snprintf(
      database, sizeof database, "%s%s%s", options->database, is_best ? "." : "",
      is_best ? way_names[index] : "");
    bool is_loaded = is_absent(database) && fill(options, database)
      && load_rows(options, database, &rows, options->existing != NULL, &runs[index]);
    if (!is_loaded) run_count = 0;
  }
  free_rows(&rows);
  return run_count;
}

static void print_run(const floor_run *run) {
  printf(
    "{\"way\":\"%s\",\"seconds\":%.6f,\"rows_per_second\":%.0f,\"checkpoints\":%ld,\"wal_peak_pages\":%d}",
    way_names[run->way], run->result.seconds, (double)run->row_count / run->result.seconds, run->result.checkpoints,
    run->result.wal_peak_pages);
}

static void print_report(const floor_options *options, const floor_run *runs, int run_count) {
  const floor_run *best = runs;
  for (int index = 1; index < run_count; index++) {
    if (runs[index].result.seconds < best->result.seconds) best = &runs[index];
  }
  printf(
    "{\"program\":\"floor\",\"mode\":\"%s\",\"shape\":\"%s\",\"operation\":\"%s\",\"rows\":%ld,\"page_size\":%d,"
    "\"cache_kib\":%d,\"checkpoint_pages\":%d,\"rows_per_transaction\":%d,\"rows_per_statement\":%d,"
    "\"conflict\":\"%s\",\"sqlite\":\"%s\",\"best\":\"%s\",\"seconds\":%.6f,\"rows_per_second\":%.0f,\"runs\":[",
    options->mode == mode_file ? "file" : "memory", options->shape->name,
    options->existing != NULL ? "upsert" : "insert", best->row_count, options->page_size, options->cache_kib,
    options->checkpoint_pages, options->rows_per_transaction, options->rows_per_statement,
    options->conflict[0] == 0 ? "ABORT" : options->conflict + strlen(" OR "), sqlite3_libversion(),
    way_names[best->way], best->result.seconds, (double)best->row_count / best->result.seconds);
  for (int index = 0; index < run_count; index++) {
    if (index > 0) putchar(',');
    print_run(&runs[index]);
  }
  puts("]}");
}

int main(int argument_count, char **arguments) {
  floor_options options;
  if (!parse_options(argument_count, arguments, &options)) return 64;
  if (options.mode == mode_scan) return scan_file(&options) ? 0 : 1;
  if (options.mode == mode_decompress) return decompress_file(&options) ? 0 : 1;
  floor_run runs[way_count] = {{.way = options.way}};
  int run_count = options.mode == mode_file ? load_file(&options, &runs[0]) : load_memory(&options, runs);
  if (run_count == 0) return 1;
  print_report(&options, runs, run_count);
  return 0;
}
