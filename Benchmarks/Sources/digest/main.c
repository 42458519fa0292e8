// A digest of a table's rows that does not depend on their order: two tables hold the same rows, storage classes
// included, when row counts and digests are equal. Used to check that the contenders of a benchmark did the same work.

#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char usage[] =
  "usage: digest DATABASE TABLE [--empty-as-null]\n"
  "\n"
  "Prints {\"rows\":…,\"digest\":\"…\",\"columns\":\"…\"} as JSON: the number of rows, the sum of two 64-bit hashes of\n"
  "each row's values and storage classes, and the declared columns. --empty-as-null reads '' as NULL, for loaders\n"
  "that cannot tell them apart.\n";

static inline uint64_t absorb(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
  return hash ^ (hash >> 29);
}

static uint64_t absorb_bytes(uint64_t hash, const void *bytes, size_t length) {
  const char *position = bytes;
  for (; length >= 8; length -= 8, position += 8) {
    uint64_t word;
    memcpy(&word, position, 8);
    hash = absorb(hash, word);
  }
  uint64_t word = 0;
  if (length > 0) memcpy(&word, position, length);
  return absorb(hash, word);
}

static uint64_t absorb_value(uint64_t hash, sqlite3_stmt *statement, int column, int empty_as_null) {
  int type = sqlite3_column_type(statement, column);
  if (type == SQLITE_INTEGER) return absorb(absorb(hash, 1), (uint64_t)sqlite3_column_int64(statement, column));
  if (type == SQLITE_FLOAT) {
    double value = sqlite3_column_double(statement, column);
    return absorb_bytes(absorb(hash, 2), &value, sizeof value);
  }
  if (type == SQLITE_NULL) return absorb(hash, 5);
  const void *bytes = sqlite3_column_blob(statement, column);
  int length = sqlite3_column_bytes(statement, column);
  if (length == 0 && type == SQLITE_TEXT && empty_as_null) return absorb(hash, 5);
  hash = absorb(absorb(hash, (uint64_t)type), (uint64_t)length);
  return absorb_bytes(hash, bytes, (size_t)length);
}

static void print_columns(sqlite3 *database, const char *table) {
  sqlite3_stmt *statement = NULL;
  sqlite3_prepare_v2(
    database, "SELECT name || ' ' || type || CASE WHEN pk THEN ' KEY' ELSE '' END FROM pragma_table_info(?)", -1,
    &statement, NULL);
  sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
  for (int index = 0; sqlite3_step(statement) == SQLITE_ROW; index++) {
    printf("%s%s", index > 0 ? ", " : "", sqlite3_column_text(statement, 0));
  }
  sqlite3_finalize(statement);
}

static int digest_table(sqlite3 *database, const char *table, int empty_as_null) {
  sqlite3_stmt *statement = NULL;
  char *sql = sqlite3_mprintf("SELECT * FROM \"%w\"", table);
  int code = sqlite3_prepare_v2(database, sql, -1, &statement, NULL);
  sqlite3_free(sql);
  uint64_t rows = 0, low = 0, high = 0;
  while (code == SQLITE_OK || code == SQLITE_ROW) {
    code = sqlite3_step(statement);
    if (code != SQLITE_ROW) break;
    uint64_t first = 1, second = 2;
    for (int column = 0; column < sqlite3_data_count(statement); column++) {
      first = absorb_value(first, statement, column, empty_as_null);
      second = absorb_value(second, statement, column, empty_as_null);
    }
    rows++, low += first, high += second;
  }
  sqlite3_finalize(statement);
  if (code != SQLITE_DONE) return code;
  printf(
    "{\"rows\":%llu,\"digest\":\"%016llx%016llx\",\"columns\":\"", (unsigned long long)rows, (unsigned long long)high,
    (unsigned long long)low);
  print_columns(database, table);
  puts("\"}");
  return SQLITE_OK;
}

int main(int argument_count, char **arguments) {
  int empty_as_null = argument_count == 4 && strcmp(arguments[3], "--empty-as-null") == 0;
  if (argument_count != 3 && !empty_as_null) {
    fputs(usage, stderr);
    return 64;
  }
  sqlite3 *database = NULL;
  int code = sqlite3_open_v2(arguments[1], &database, SQLITE_OPEN_READWRITE, NULL);
  if (code == SQLITE_OK) code = digest_table(database, arguments[2], empty_as_null);
  if (code != SQLITE_OK) fprintf(stderr, "digest: %s: %s\n", arguments[1], sqlite3_errmsg(database));
  sqlite3_close(database);
  return code == SQLITE_OK ? 0 : 1;
}
