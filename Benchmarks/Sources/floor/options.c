#include "options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
  "usage: floor single|multi|virtual|best --csv FILE --database FILE [option …]\n"
  "       floor file --csv FILE --database FILE [option …]\n"
  "       floor scan --csv FILE [--shape SHAPE]\n"
  "       floor decompress --zstd FILE\n"
  "\n"
  "How fast plain C gets the rows of a CSV (as `generate` writes it) into a new SQLite database: from memory, from\n"
  "the file, and what parts of that cost alone. WAL, synchronous=NORMAL, checkpoints between transactions; the time\n"
  "ends after the last checkpoint and the close. One JSON line on stdout.\n"
  "\n"
  "  single                       rows in memory, read before the clock starts: one cached single-row statement\n"
  "  multi                        the same by one cached VALUES statement of many rows\n"
  "  virtual                      the same by one INSERT … SELECT a transaction from a virtual table over them\n"
  "  best                         all three, into FILE.single and so on; prints each and names the best\n"
  "  file                         reads, parses, converts and writes the file, a batch at a time, by --way\n"
  "  scan                         reads, parses and converts the file; no database\n"
  "  decompress                   zstd alone\n"
  "  --way single|multi|virtual   of file (multi)\n"
  "  --shape narrow|wide          the columns (narrow)\n"
  "  --page-size BYTES            of the new database (16384)\n"
  "  --cache-kib KIB              page cache (16384)\n"
  "  --checkpoint-pages PAGES     checkpoint when a commit leaves this many pages in the WAL (2560)\n"
  "  --rows-per-statement N       of multi (64)\n"
  "  --rows-per-transaction N     (100000)\n"
  "  --rows-per-batch N           of file: rows read before they are written (4096)\n"
  "  --conflict abort|fail|rollback\n"
  "                               INSERT OR … (abort); fail and rollback need no statement journal\n"
  "  --existing FILE              fill the table from this CSV before the clock starts, then time a keyed upsert\n"
  "                               that leaves rows alone that are as they should be\n";

const char *const way_names[way_count] = {"single", "multi", "virtual"};

static bool parse_count(const char *text, int minimum, int *value) {
  char *end;
  errno = 0;
  long number = strtol(text, &end, 10);
  if (errno != 0 || *end != 0 || number < minimum || number > INT_MAX) return false;
  *value = (int)number;
  return true;
}

static bool parse_conflict(const char *text, const char **clause) {
  if (strcmp(text, "abort") == 0) *clause = "";
  else if (strcmp(text, "fail") == 0) *clause = " OR FAIL";
  else if (strcmp(text, "rollback") == 0) *clause = " OR ROLLBACK";
  else return false;
  return true;
}

static bool parse_way(const char *text, floor_way *way) {
  for (int index = 0; index < way_count; index++) {
    if (strcmp(text, way_names[index]) == 0) {
      *way = (floor_way)index;
      return true;
    }
  }
  return false;
}

static bool parse_option(const char *name, const char *value, floor_options *options) {
  if (strcmp(name, "--csv") == 0 || strcmp(name, "--zstd") == 0) options->input = value;
  else if (strcmp(name, "--existing") == 0) options->existing = value;
  else if (strcmp(name, "--database") == 0) options->database = value;
  else if (strcmp(name, "--way") == 0) return parse_way(value, &options->way);
  else if (strcmp(name, "--shape") == 0) return (options->shape = shape_named(value)) != NULL;
  else if (strcmp(name, "--conflict") == 0) return parse_conflict(value, &options->conflict);
  else if (strcmp(name, "--page-size") == 0) return parse_count(value, 512, &options->page_size);
  else if (strcmp(name, "--cache-kib") == 0) return parse_count(value, 1, &options->cache_kib);
  else if (strcmp(name, "--checkpoint-pages") == 0) return parse_count(value, 1, &options->checkpoint_pages);
  else if (strcmp(name, "--rows-per-statement") == 0) return parse_count(value, 1, &options->rows_per_statement);
  else if (strcmp(name, "--rows-per-transaction") == 0) return parse_count(value, 1, &options->rows_per_transaction);
  else if (strcmp(name, "--rows-per-batch") == 0) return parse_count(value, 1, &options->rows_per_batch);
  else return false;
  return true;
}

static bool parse_mode(const char *text, floor_options *options) {
  options->mode = mode_memory;
  if (parse_way(text, &options->way)) return true;
  if (strcmp(text, "best") == 0) options->mode = mode_best;
  else if (strcmp(text, "file") == 0) options->mode = mode_file;
  else if (strcmp(text, "scan") == 0) options->mode = mode_scan;
  else if (strcmp(text, "decompress") == 0) options->mode = mode_decompress;
  else return false;
  return true;
}

bool parse_options(int argument_count, char **arguments, floor_options *options) {
  *options = (floor_options){
    .way = way_multi, .shape = shape_named("narrow"), .conflict = "", .page_size = 16384, .cache_kib = 16384,
    .checkpoint_pages = 2560, .rows_per_statement = 64, .rows_per_transaction = 100000, .rows_per_batch = 4096};
  if (argument_count < 2 || !parse_mode(arguments[1], options)) {
    fputs(usage, stderr);
    return false;
  }
  for (int index = 2; index < argument_count; index += 2) {
    const char *value = index + 1 < argument_count ? arguments[index + 1] : "";
    if (!parse_option(arguments[index], value, options)) {
      fprintf(stderr, "floor: cannot use %s %s\n\n%s", arguments[index], value, usage);
      return false;
    }
  }
  bool needs_database = options->mode != mode_scan && options->mode != mode_decompress;
  if (options->input != NULL && (options->database != NULL || !needs_database)) return true;
  fprintf(stderr, "floor: an input%s is needed\n\n%s", needs_database ? " and a database" : "", usage);
  return false;
}
