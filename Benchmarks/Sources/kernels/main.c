// The engine's C kernels alone, over bytes that lie in the processor's cache as a batch does: the ceiling of what the
// parsers built from them can reach.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels.h"

enum { input_limit = 1 << 20, kernel_limit = 32, pass_limit = 100000 };

static const char usage[] =
  "usage: kernels CSV NDJSON [MILLISECONDS [KERNEL PASSES]]\n"
  "\n"
  "Runs each kernel over the first MiB of the files (as `generate` writes them), or over text made for it, for\n"
  "MILLISECONDS (200), and prints a JSON line with the median of its passes. With the number of a KERNEL, counted from\n"
  "0, it runs that one PASSES times and prints nothing: for counting instructions.\n";

static double now_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

// The whole lines of a file's first MiB, with room behind them, without the first line if it is a header.
static bool read_start(const char *path, bool has_header, span *text) {
  FILE *file = fopen(path, "rb");
  uint8_t *bytes = calloc(1, input_limit + 64);
  size_t count = file != NULL && bytes != NULL ? fread(bytes, 1, input_limit, file) : 0;
  if (file != NULL) fclose(file);
  while (count > 0 && bytes[count - 1] != '\n') count--;
  const uint8_t *header_end = has_header && count > 0 ? memchr(bytes, '\n', count) : NULL;
  size_t start = header_end != NULL ? (size_t)(header_end + 1 - bytes) : 0;
  *text = (span){bytes + start, count - start};
  if (text->count > 0) return true;
  fprintf(stderr, "kernels: %s has no line to work on: %s\n", path, strerror(errno));
  return false;
}

static span repeated(const char *words) {
  size_t word_count = strlen(words), copies = input_limit / word_count;
  uint8_t *bytes = calloc(1, input_limit + 64);
  for (size_t copy = 0; copy < copies && bytes != NULL; copy++) memcpy(bytes + copy * word_count, words, word_count);
  return (span){bytes, bytes != NULL ? copies * word_count : 0};
}

static bool make_data(const char *csv, const char *ndjson, kernel_data *data) {
  *data = (kernel_data){
    .ascii = repeated("The quick brown fox jumps over the lazy dog. "),
    .accents = repeated("Chloé Müller, São Paulo: the quick brown fox jumps over. "),
    .wide_text = repeated("東京都渋谷区道玄坂二丁目 "),
    .escaped = repeated("a line of text\\nsaid \\\"no\\\" twice\\u00e9 and a \\/ slash "),
    .positions = calloc(input_limit + UPSURGE_STRUCTURAL_SLACK, sizeof(uint32_t)),
    .spill = calloc(1, 2 * input_limit)};
  return data->positions != NULL && data->spill != NULL && read_start(csv, true, &data->csv)
    && read_start(ndjson, false, &data->ndjson);
}

static int compare_seconds(const void *one, const void *other) {
  double difference = *(const double *)one - *(const double *)other;
  return (difference > 0) - (difference < 0);
}

static void measure(const kernel *kernel, kernel_data *data, double limit_seconds) {
  static double seconds[pass_limit];
  uint64_t found = kernel->pass(data);  // warms up
  int passes = 0;
  for (double start = now_seconds(); passes < pass_limit && now_seconds() - start < limit_seconds; passes++) {
    double begin = now_seconds();
    found = kernel->pass(data);
    seconds[passes] = now_seconds() - begin;
  }
  qsort(seconds, (size_t)passes, sizeof seconds[0], compare_seconds);
  double median = seconds[passes / 2];
  printf(
    "{\"kernel\":\"%s\",\"variant\":\"%s\",\"bytes\":%llu,\"items\":%llu,\"passes\":%d,\"seconds\":%.9f,"
    "\"bytes_per_second\":%.0f,\"found\":\"%016llx\"}\n",
    kernel->name, kernel->variant, (unsigned long long)kernel->bytes, (unsigned long long)kernel->items, passes,
    median, (double)kernel->bytes / median, (unsigned long long)found);
}

int main(int argument_count, char **arguments) {
  if (argument_count != 3 && argument_count != 4 && argument_count != 6) {
    fputs(usage, stderr);
    return 64;
  }
  kernel_data data;
  if (!make_data(arguments[1], arguments[2], &data)) return 66;
  kernel kernels[kernel_limit];
  int count = csv_kernels(&data, kernels);
  count += json_kernels(&data, kernels + count);
  count += text_kernels(&data, kernels + count);
  if (argument_count == 6) {
    long number = strtol(arguments[4], NULL, 10), passes = strtol(arguments[5], NULL, 10);
    if (number < 0 || number >= count) return 64;
    uint64_t found = 0;
    for (long pass = 0; pass < passes; pass++) found ^= kernels[number].pass(&data);
    return found == 1 ? 1 : 0;  // looks at the result
  }
  double milliseconds = argument_count > 3 ? strtod(arguments[3], NULL) : 200;
  for (int index = 0; index < count; index++) measure(&kernels[index], &data, milliseconds / 1000);
  return 0;
}
