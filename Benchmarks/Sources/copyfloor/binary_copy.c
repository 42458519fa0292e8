#include "binary_copy.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { message_size = 256 << 10, largest_row = 64 << 10 };

// Numbers are sent with their highest byte first.
static inline void put_16(binary_copy *copy, uint16_t value) {
  value = __builtin_bswap16(value);
  memcpy(copy->bytes + copy->used, &value, 2);
  copy->used += 2;
}

static inline void put_32(binary_copy *copy, uint32_t value) {
  value = __builtin_bswap32(value);
  memcpy(copy->bytes + copy->used, &value, 4);
  copy->used += 4;
}

static inline void put_64(binary_copy *copy, uint64_t value) {
  value = __builtin_bswap64(value);
  memcpy(copy->bytes + copy->used, &value, 8);
  copy->used += 8;
}

static inline void put_bytes(binary_copy *copy, const void *bytes, size_t length) {
  memcpy(copy->bytes + copy->used, bytes, length);
  copy->used += length;
}

static bool fails(binary_copy *copy, const char *what) {
  fprintf(stderr, "copyfloor: %s: %s", what, PQerrorMessage(copy->connection));
  return false;
}

static bool send_bytes(binary_copy *copy) {
  bool is_sent = PQputCopyData(copy->connection, copy->bytes, (int)copy->used) == 1;
  copy->used = 0;
  return is_sent || fails(copy, "cannot send");
}

bool binary_copy_open(binary_copy *copy, const char *url, const char *table, const shape *shape) {
  *copy = (binary_copy){.connection = PQconnectdb(url), .shape = shape, .bytes = malloc(message_size + largest_row)};
  if (copy->bytes == NULL || PQstatus(copy->connection) != CONNECTION_OK) return fails(copy, "cannot connect");
  char statement[256];
  snprintf(statement, sizeof statement, "COPY %s FROM STDIN (FORMAT binary)", table);
  PGresult *result = PQexec(copy->connection, statement);
  bool is_ready = PQresultStatus(result) == PGRES_COPY_IN;
  PQclear(result);
  if (!is_ready) return fails(copy, statement);
  put_bytes(copy, "PGCOPY\n\377\r\n\0", 11);
  put_32(copy, 0);  // flags
  put_32(copy, 0);  // length of the header's extension
  return true;
}

bool binary_copy_put(binary_copy *copy, const cell *cells) {
  put_16(copy, (uint16_t)copy->shape->column_count);
  for (int column = 0; column < copy->shape->column_count; column++) {
    const cell *cell = &cells[column];
    switch ((cell_kind)cell->kind) {
    case cell_null: put_32(copy, UINT32_MAX); break;
    case cell_integer:
      put_32(copy, 8);
      put_64(copy, (uint64_t)cell->integer);
      break;
    case cell_real: {
      uint64_t bits;
      memcpy(&bits, &cell->real, 8);
      put_32(copy, 8);
      put_64(copy, bits);
      break;
    }
    case cell_text:
      put_32(copy, cell->length);
      put_bytes(copy, cell->text, cell->length);
      break;
    }
  }
  return copy->used < message_size || send_bytes(copy);
}

bool binary_copy_close(binary_copy *copy) {
  put_16(copy, UINT16_MAX);
  if (!send_bytes(copy)) return false;
  if (PQputCopyEnd(copy->connection, NULL) != 1) return fails(copy, "cannot end the COPY");
  PGresult *result = PQgetResult(copy->connection);
  bool is_stored = PQresultStatus(result) == PGRES_COMMAND_OK;
  PQclear(result);
  if (!is_stored) return fails(copy, "COPY");
  PQfinish(copy->connection);
  free(copy->bytes);
  return true;
}
