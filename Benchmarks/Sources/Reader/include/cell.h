#ifndef CELL_H
#define CELL_H

#include <stdbool.h>
#include <stdint.h>

typedef enum { cell_null, cell_integer, cell_real, cell_text } cell_kind;

// One typed value, 16 bytes.
typedef struct {
  uint32_t kind;
  uint32_t length;  // bytes of a text
  union {
    int64_t integer;
    double real;
    const char *text;  // into the reader's bytes
  };
} cell;

#endif
