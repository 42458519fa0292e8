#include "shapes.h"

#include <stdio.h>
#include <string.h>

static const shape_column narrow_columns[] = {
  {"id", column_integer, false},
  {"name", column_text, false},
  {"category", column_text, false},
  {"quantity", column_integer, false},
  {"price", column_real, false},
  {"updated_at", column_text, false},
};

static const shape_column wide_columns[] = {
  {"key", column_text, false},
  {"first_name", column_text, false},
  {"last_name", column_text, false},
  {"email", column_text, false},
  {"company", column_text, false},
  {"street", column_text, false},
  {"city", column_text, false},
  {"country", column_text, false},
  {"postcode", column_text, false},
  {"phone", column_text, false},
  {"active", column_integer, false},
  {"age", column_integer, true},
  {"visits", column_integer, false},
  {"balance", column_real, false},
  {"latitude", column_real, false},
  {"longitude", column_real, false},
  {"score", column_real, true},
  {"created_on", column_text, false},
  {"seen_at", column_text, false},
  {"note", column_text, true},
};

static const shape shapes[] = {
  {"narrow", narrow_columns, sizeof narrow_columns / sizeof narrow_columns[0]},
  {"wide", wide_columns, sizeof wide_columns / sizeof wide_columns[0]},
};

const shape *shape_named(const char *name) {
  for (size_t index = 0; index < sizeof shapes / sizeof shapes[0]; index++) {
    if (strcmp(shapes[index].name, name) == 0) return &shapes[index];
  }
  return NULL;
}

const char *column_type_name(column_type type) {
  switch (type) {
  case column_integer: return "INTEGER";
  case column_real: return "REAL";
  default: return "TEXT";
  }
}

bool shape_create_table(const shape *shape, char *text, size_t capacity) {
  size_t used = (size_t)snprintf(text, capacity, "CREATE TABLE %s(", shape->name);
  for (int index = 0; index < shape->column_count && used < capacity; index++) {
    const shape_column *column = &shape->columns[index];
    used += (size_t)snprintf(
      text + used, capacity - used, "%s%s %s%s", index == 0 ? "" : ", ", column->name,
      column_type_name(column->type), index == 0 ? " PRIMARY KEY" : "");
  }
  if (used < capacity) used += (size_t)snprintf(text + used, capacity - used, ")");
  return used < capacity;
}
