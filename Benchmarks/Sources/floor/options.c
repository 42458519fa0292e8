#include "options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
  "usage: floor single|multi|best --csv FILE --database FILE [option …]\n"
  "\n"
  "How fast plain C gets rows that are already in memory into a new SQLite database. The CSV (as `generate` writes\n"
  "it) is read and converted before the clock starts; the time runs from opening the database to after the last\n"
  "checkpoint and the close. WAL, synchronous=NORMAL, checkpoints between transactions. One JSON line on stdout.\n"
  "\n"
  "  single                       one cached single-row statement\n"
  "  multi                        one cached VALUES statement of many rows\n"
  "  best                         both, into FILE.single and FILE.multi; prints both and names the better\n"
  "  --shape narrow|wide          the columns (narrow)\n"
  "  --page-size BYTES            of the new database (16384)\n"
  "  --cache-kib KIB              page cache (16384)\n"
  "  --checkpoint-pages PAGES     checkpoint when a commit leaves this many pages in the WAL (2560)\n"
  "  --rows-per-statement N       of multi (64)\n"
  "  --rows-per-transaction N     (100000)\n"
  "  --conflict abort|fail|rollback\n"
  "                               INSERT OR … (abort); fail and rollback need no statement journal\n"
  "  --existing FILE              fill the table from this CSV before the clock starts, then time a keyed upsert\n"
  "                               that leaves rows alone that are as they should be\n";

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

static bool parse_option(const char *name, const char *value, floor_options *options) {
  if (strcmp(name, "--csv") == 0) options->csv = value;
  else if (strcmp(name, "--existing") == 0) options->existing = value;
  else if (strcmp(name, "--database") == 0) options->database = value;
  else if (strcmp(name, "--shape") == 0) return (options->shape = shape_named(value)) != NULL;
  else if (strcmp(name, "--conflict") == 0) return parse_conflict(value, &options->conflict);
  else if (strcmp(name, "--page-size") == 0) return parse_count(value, 512, &options->page_size);
  else if (strcmp(name, "--cache-kib") == 0) return parse_count(value, 1, &options->cache_kib);
  else if (strcmp(name, "--checkpoint-pages") == 0) return parse_count(value, 1, &options->checkpoint_pages);
  else if (strcmp(name, "--rows-per-statement") == 0) return parse_count(value, 1, &options->rows_per_statement);
  else if (strcmp(name, "--rows-per-transaction") == 0) return parse_count(value, 1, &options->rows_per_transaction);
  else return false;
  return true;
}

static bool parse_mode(const char *text, floor_mode *mode) {
  static const char *const names[] = {"single", "multi", "best"};
  for (int index = 0; index < 3; index++) {
    if (strcmp(text, names[index]) == 0) {
      *mode = (floor_mode)index;
      return true;
    }
  }
  return false;
}

bool parse_options(int argument_count, char **arguments, floor_options *options) {
  *options = (floor_options){
    .shape = shape_named("narrow"), .conflict = "", .page_size = 16384, .cache_kib = 16384,
    .checkpoint_pages = 2560, .rows_per_statement = 64, .rows_per_transaction = 100000};
  if (argument_count < 2 || !parse_mode(arguments[1], &options->mode)) {
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
  if (options->csv != NULL && options->database != NULL) return true;
  fprintf(stderr, "floor: --csv and --database are needed\n\n%s", usage);
  return false;
}
