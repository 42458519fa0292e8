#include "stages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>

#include "loader.h"
#include "reader.h"

static void print_stage(const char *stage, double seconds, long row_count, uint64_t bytes_in, uint64_t bytes_out) {
  printf(
    "{\"program\":\"floor\",\"mode\":\"%s\",\"seconds\":%.6f,\"rows\":%ld,\"bytes_in\":%llu,\"bytes_out\":%llu,"
    "\"bytes_per_second\":%.0f}\n",
    stage, seconds, row_count, (unsigned long long)bytes_in, (unsigned long long)bytes_out,
    (double)bytes_out / seconds);
}

bool scan_file(const floor_options *options) {
  struct stat status = {0};
  double start = now_seconds();
  reader reader;
  int column_count = options->shape->column_count;
  cell *cells = calloc((size_t)options->rows_per_batch * (size_t)column_count, sizeof(cell));
  long count = -1, row_count = 0;
  if (cells != NULL && reader_open(&reader, options->input, options->shape, block_size)) {
    do count = reader_next(&reader, cells, options->rows_per_batch);
    while (count > 0);
    row_count = reader.row_count;
    fstat(reader.descriptor, &status);
    reader_close(&reader);
  }
  free(cells);
  uint64_t size = (uint64_t)status.st_size;
  if (count == 0) print_stage("scan", now_seconds() - start, row_count, size, size);
  return count == 0;
}

// Every block into the same buffer, which nobody looks at. Negative after printing what is wrong.
static long long decompress(FILE *file, const char *path, uint64_t *bytes_in) {
  size_t in_size = ZSTD_DStreamInSize(), out_size = block_size;
  void *in = malloc(in_size), *out = malloc(out_size);
  ZSTD_DCtx *context = ZSTD_createDCtx();
  long long total = in != NULL && out != NULL && context != NULL ? 0 : -1;
  size_t left = 0;  // what zstd still expects of the frame
  for (size_t count; total >= 0 && (count = fread(in, 1, in_size, file)) > 0;) {
    *bytes_in += count;
    ZSTD_inBuffer input = {in, count, 0};
    while (total >= 0 && input.pos < input.size) {
      ZSTD_outBuffer output = {out, out_size, 0};
      left = ZSTD_decompressStream(context, &output, &input);
      total = ZSTD_isError(left) ? -1 : total + (long long)output.pos;
    }
  }
  for (bool is_flushed = false; total >= 0 && left > 0 && !is_flushed;) {
    ZSTD_inBuffer input = {in, 0, 0};
    ZSTD_outBuffer output = {out, out_size, 0};
    left = ZSTD_decompressStream(context, &output, &input);
    total = ZSTD_isError(left) ? -1 : total + (long long)output.pos;
    is_flushed = output.pos == 0;
  }
  if (total >= 0 && left > 0) total = -1;
  if (total < 0) fprintf(stderr, "floor: %s: %s\n", path, ZSTD_isError(left) ? ZSTD_getErrorName(left) : "is cut");
  ZSTD_freeDCtx(context);
  free(in);
  free(out);
  return total;
}

bool decompress_file(const floor_options *options) {
  double start = now_seconds();
  uint64_t bytes_in = 0;
  FILE *file = fopen(options->input, "rb");
  if (file == NULL) {
    fprintf(stderr, "floor: cannot open %s: %s\n", options->input, strerror(errno));
    return false;
  }
  long long bytes_out = decompress(file, options->input, &bytes_in);
  fclose(file);
  if (bytes_out >= 0) print_stage("decompress", now_seconds() - start, 0, bytes_in, (uint64_t)bytes_out);
  return bytes_out >= 0;
}
