#ifndef KERNELS_H
#define KERNELS_H

#include <stdint.h>

#include "../../../Sources/CScan/include/CScan.h"

// A run of bytes in a larger one.
typedef struct {
  const uint8_t *start;
  size_t count;
} span;

// What the kernels work on: the start of each file, as much as a batch holds, and what is made of it beforehand.
typedef struct {
  span csv, ndjson;
  span ascii, accents, wide_text;  // texts of 1-byte, mostly 1-byte, and 3-byte characters
  span escaped;                    // the contents of a JSON string with an escape every 16 bytes or so
  span *numbers;                   // the fields of the CSV that are numbers
  size_t number_count, number_bytes;
  uint32_t *positions;             // room for a position of every byte, and the kernels' slack
  size_t position_count;           // of the CSV's marks, from csv_prepare on
  uint8_t *spill;                  // room for all bytes of the largest input
  upsurge_json_key *keys;          // the NDJSON's, in their order, behind that of the record
  int key_count;
  upsurge_cell *row;
} kernel_data;

// One kernel: a pass over its input. The result says what it found, so that nothing is optimised away and twins can
// be compared.
typedef struct {
  const char *name;
  const char *variant;
  uint64_t (*pass)(kernel_data *data);
  uint64_t bytes;  // that a pass reads
  uint64_t items;  // fields, numbers, records …; 0: none to count
} kernel;

// Each appends its kernels and returns how many; they prepare what they need of `data`.
int csv_kernels(kernel_data *data, kernel *kernels);
int json_kernels(kernel_data *data, kernel *kernels);
int text_kernels(kernel_data *data, kernel *kernels);

#endif
