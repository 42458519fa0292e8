#include "record_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// No record of any shape comes near this: fields are short and escaping at most doubles them.
enum { buffer_capacity = 1 << 20, record_limit = 4096 };

static inline void put_byte(record_writer *writer, char byte) { writer->buffer[writer->used++] = byte; }

static inline void put_bytes(record_writer *writer, const char *bytes, size_t length) {
  memcpy(writer->buffer + writer->used, bytes, length);
  writer->used += length;
}

static void begin_field(record_writer *writer) {
  if (writer->format == format_csv) {
    if (writer->column > 0) put_byte(writer, ',');
  } else {
    const char *name = writer->shape->columns[writer->column].name;
    put_bytes(writer, writer->column == 0 ? "{\"" : ",\"", 2);
    put_bytes(writer, name, strlen(name));
    put_bytes(writer, "\":", 2);
  }
  writer->column++;
}

static void put_digits(record_writer *writer, uint64_t value, int minimum_digits) {
  char digits[20];
  int count = 0;
  do {
    digits[count++] = (char)('0' + value % 10);
    value /= 10;
  } while (value != 0 || count < minimum_digits);
  while (count > 0) put_byte(writer, digits[--count]);
}

void put_null(record_writer *writer) {
  begin_field(writer);
  if (writer->format == format_ndjson) put_bytes(writer, "null", 4);
}

void put_integer(record_writer *writer, int64_t value) {
  begin_field(writer);
  if (value < 0) put_byte(writer, '-');
  put_digits(writer, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 1);
}

void put_decimal(record_writer *writer, int64_t scaled, int digits) {
  begin_field(writer);
  uint64_t unit = 1;
  for (int index = 0; index < digits; index++) unit *= 10;
  uint64_t magnitude = scaled < 0 ? 0 - (uint64_t)scaled : (uint64_t)scaled;
  if (scaled < 0) put_byte(writer, '-');
  put_digits(writer, magnitude / unit, 1);
  put_byte(writer, '.');
  put_digits(writer, magnitude % unit, digits);
}

static bool needs_quotes(const char *bytes, size_t length) {
  for (size_t index = 0; index < length; index++) {
    if (bytes[index] == ',' || bytes[index] == '"' || bytes[index] == '\n') return true;
  }
  return length == 0;  // an unquoted empty field would read as NULL
}

void put_text(record_writer *writer, const char *bytes, size_t length) {
  begin_field(writer);
  bool is_json = writer->format == format_ndjson;
  if (!is_json && !needs_quotes(bytes, length)) {
    put_bytes(writer, bytes, length);
    return;
  }
  put_byte(writer, '"');
  for (size_t index = 0; index < length; index++) {
    char byte = bytes[index];
    if (is_json && byte == '\n') {
      put_bytes(writer, "\\n", 2);
    } else {
      if (byte == '"') put_byte(writer, is_json ? '\\' : '"');
      put_byte(writer, byte);
    }
  }
  put_byte(writer, '"');
}

static bool flush(record_writer *writer) {
  size_t written = 0;
  while (written < writer->used) {
    ssize_t count = write(STDOUT_FILENO, writer->buffer + written, writer->used - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    written += (size_t)count;
  }
  writer->used = 0;
  return true;
}

bool end_record(record_writer *writer) {
  if (writer->format == format_ndjson) put_byte(writer, '}');
  put_byte(writer, '\n');
  writer->column = 0;
  return writer->used + record_limit <= writer->capacity || flush(writer);
}

bool record_writer_open(record_writer *writer, const shape *shape, record_format format) {
  *writer = (record_writer){.format = format, .shape = shape, .capacity = buffer_capacity};
  writer->buffer = malloc(buffer_capacity);
  if (writer->buffer == NULL) return false;
  if (format == format_ndjson) return true;
  for (int index = 0; index < shape->column_count; index++) {
    if (index > 0) put_byte(writer, ',');
    put_bytes(writer, shape->columns[index].name, strlen(shape->columns[index].name));
  }
  put_byte(writer, '\n');
  return true;
}

bool record_writer_close(record_writer *writer) {
  bool flushed = flush(writer);
  free(writer->buffer);
  return flushed;
}
