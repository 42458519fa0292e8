// Writes a seeded table to stdout: the same shape, rows and seed give the same bytes on every machine,
// and the same values in both formats.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rows.h"

static const char usage[] =
  "usage: generate narrow|wide csv|ndjson ROWS [SEED [CHANGED]]\n"
  "       generate narrow|wide ddl\n"
  "\n"
  "Writes ROWS records to stdout. SEED (default 42) picks other values. CHANGED (default 0) is the percentage of\n"
  "rows whose changeable columns differ from the delivery with CHANGED 0: a later delivery of the same table.\n"
  "ddl prints the CREATE TABLE.\n"
  "\n"
  "  narrow  6 columns, 60 bytes a row, ascending integer key\n"
  "  wide    20 mixed columns, 200 bytes a row, random text key, NULLs, quotes and newlines\n"
  "\n"
  "  generate narrow csv 2000000 42 | upsurge load new.db narrow - --key id\n";

static bool parse_number(const char *text, uint64_t *value) {
  char *end;
  errno = 0;
  *value = strtoull(text, &end, 10);
  return errno == 0 && *end == 0 && text[0] >= '0' && text[0] <= '9';
}

static bool print_create_table(const shape *shape) {
  char text[4096];
  return shape_create_table(shape, text, sizeof text) && printf("%s;\n", text) > 0 && fflush(stdout) == 0;
}

static bool write_rows(const shape *shape, record_format format, const generation *generation) {
  record_writer writer;
  if (!record_writer_open(&writer, shape, format)) return false;
  bool is_wide = strcmp(shape->name, "wide") == 0;
  bool is_written = true;
  for (uint64_t row = 1; row <= generation->row_count && is_written; row++) {
    if (is_wide) put_wide_row(&writer, generation, row);
    else put_narrow_row(&writer, generation, row);
    is_written = end_record(&writer);
  }
  return record_writer_close(&writer) && is_written;
}

int main(int argument_count, char **arguments) {
  const shape *shape = argument_count >= 3 ? shape_named(arguments[1]) : NULL;
  bool is_ddl = shape != NULL && argument_count == 3 && strcmp(arguments[2], "ddl") == 0;
  bool is_csv = shape != NULL && strcmp(arguments[2], "csv") == 0;
  bool is_ndjson = shape != NULL && strcmp(arguments[2], "ndjson") == 0;
  generation generation = {.seed = 42};
  uint64_t changed = 0;
  bool is_valid = is_ddl || ((is_csv || is_ndjson) && argument_count >= 4 && argument_count <= 6);
  if (is_valid && argument_count > 3) is_valid = parse_number(arguments[3], &generation.row_count);
  if (is_valid && argument_count > 4) is_valid = parse_number(arguments[4], &generation.seed);
  if (is_valid && argument_count > 5) is_valid = parse_number(arguments[5], &changed) && changed <= 100;
  if (!is_valid) {
    fputs(usage, stderr);
    return 64;
  }
  generation.changed_percent = (uint32_t)changed;
  bool is_written =
    is_ddl ? print_create_table(shape) : write_rows(shape, is_csv ? format_csv : format_ndjson, &generation);
  if (is_written) return 0;
  fprintf(stderr, "generate: cannot write to stdout: %s\n", strerror(errno));
  return 1;
}
