// The structural index, the walk from mark to mark, and the conversion of numbers beside the C library's.

#include <stdlib.h>
#include <string.h>

#include "kernels.h"

static const upsurge_needles marks = {{',', '"', '"', '\r', '\n'}};

static uint64_t index_at(kernel_data *data, int level) {
  return upsurge_structural(level, data->csv.start, data->csv.count, marks, 0, data->positions);
}

static uint64_t index_portable(kernel_data *data) { return index_at(data, UPSURGE_SIMD_PORTABLE); }
static uint64_t index_sse2(kernel_data *data) { return index_at(data, UPSURGE_SIMD_SSE2); }
static uint64_t index_avx2(kernel_data *data) { return index_at(data, UPSURGE_SIMD_AVX2); }

// From mark to mark: where each field starts and ends, and whether it is quoted. It is written here because the
// engine's own walk is not C; what it does a field is the same.
static uint64_t walk_fields(kernel_data *data) {
  const uint8_t *bytes = data->csv.start;
  uint64_t fields = 0, quoted = 0, field_bytes = 0;
  uint32_t start = 0;
  for (size_t index = 0; index < data->position_count; index++) {
    uint32_t position = data->positions[index];
    if (__builtin_expect(bytes[position] == '"', 0)) {
      // to the quote that ends the field: doubled ones stand next to each other
      quoted++;
      index++;
      while (index + 1 < data->position_count) {
        bool is_quote = bytes[data->positions[index]] == '"';
        bool is_doubled = is_quote && bytes[data->positions[index] + 1] == '"';
        if (is_quote && !is_doubled) break;
        index += is_doubled ? 2 : 1;
      }
      continue;
    }
    field_bytes += position - start;
    fields++;
    start = position + 1;
  }
  return fields ^ quoted << 24 ^ field_bytes << 32;
}

static uint64_t scan_numbers(kernel_data *data) {
  uint64_t sum = 0;
  for (size_t index = 0; index < data->number_count; index++) {
    uint64_t bits = 0;
    upsurge_number_scan(data->numbers[index].start, data->numbers[index].count, &bits);
    sum += bits;
  }
  return sum;
}

// The C library's way: the digits have to be copied, because it wants a zero behind them.
static uint64_t scan_numbers_by_libc(kernel_data *data) {
  uint64_t sum = 0;
  for (size_t index = 0; index < data->number_count; index++) {
    char text[32];
    span number = data->numbers[index];
    size_t count = number.count < sizeof text ? number.count : sizeof text - 1;
    memcpy(text, number.start, count);
    text[count] = 0;
    char *end;
    uint64_t bits = (uint64_t)strtoll(text, &end, 10);
    if (*end != 0) {
      double value = strtod(text, NULL);
      memcpy(&bits, &value, sizeof bits);
    }
    sum += bits;
  }
  return sum;
}

static void find_numbers(kernel_data *data) {
  data->numbers = calloc(data->position_count, sizeof(span));
  const uint8_t *bytes = data->csv.start;
  size_t start = 0;
  for (size_t index = 0; index < data->position_count && data->numbers != NULL; index++) {
    size_t position = data->positions[index], count = position - start;
    uint64_t bits;
    int found = count > 0 && count < 32 ? upsurge_number_scan(bytes + start, count, &bits) : UPSURGE_NUMBER_NONE;
    if (found == UPSURGE_NUMBER_INTEGER || found == UPSURGE_NUMBER_REAL) {
      data->numbers[data->number_count++] = (span){bytes + start, count};
      data->number_bytes += count;
    }
    start = position + 1;
  }
}

int csv_kernels(kernel_data *data, kernel *kernels) {
  data->position_count = index_portable(data);
  find_numbers(data);
  uint64_t bytes = data->csv.count, fields = data->position_count;
  int count = 0;
  int level = upsurge_simd_level();
  if (level >= UPSURGE_SIMD_AVX2) kernels[count++] = (kernel){"structural index", "avx2", index_avx2, bytes, fields};
  if (level >= UPSURGE_SIMD_SSE2) kernels[count++] = (kernel){"structural index", "sse2", index_sse2, bytes, fields};
  kernels[count++] = (kernel){"structural index", "portable", index_portable, bytes, fields};
  kernels[count++] = (kernel){"field walk", "over the index", walk_fields, bytes, fields};
  kernels[count++] =
    (kernel){"number conversion", "upsurge", scan_numbers, data->number_bytes, data->number_count};
  kernels[count++] =
    (kernel){"number conversion", "strtoll, strtod", scan_numbers_by_libc, data->number_bytes, data->number_count};
  return count;
}
