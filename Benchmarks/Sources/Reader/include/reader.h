#ifndef READER_H
#define READER_H

#include <stddef.h>

#include "cell.h"
#include "shapes.h"

enum { block_size = 1 << 20 };  // what is read at once, unless a file is to stay in memory

// The least that can read a CSV as `generate` writes it: a header line, exactly the shape's columns, UTF-8 that
// nobody checks, quotes where needed. It reads blocks, finds the fields and converts them to the columns' types.
typedef struct reader {
  const char *path;
  const shape *shape;
  int descriptor;
  char *bytes;         // a block, and slack behind it
  char *unquoted;      // as large as a block: texts that had quotes inside
  size_t capacity;     // of a block
  size_t start, end;   // of the bytes in the block that are still to be read
  bool is_at_end;      // the file has no more bytes than those
  long row_count;      // read so far
} reader;

// False after printing why not. A capacity as large as the file keeps all of it in one block.
bool reader_open(reader *reader, const char *path, const shape *shape, size_t capacity);

// Reads at most `row_limit` rows into `cells`; how many: 0 at the end of the file, -1 after printing what is wrong.
// Texts are valid until the next call.
long reader_next(reader *reader, cell *cells, long row_limit);

// Frees the block too.
void reader_close(reader *reader);

#endif
