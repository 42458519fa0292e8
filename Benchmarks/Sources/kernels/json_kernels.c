// NDJSON: the members of predicted keys into cells, the machine that only checks, and unescaping.

#include <stdlib.h>
#include <string.h>

#include "kernels.h"

// The records one after another. Where a record is left to the general reader (a number whose double is not proven),
// the rest of it is skipped and it is not counted.
static uint64_t read_records(kernel_data *data) {
  const uint8_t *p = data->ndjson.start, *end = p + data->ndjson.count;
  size_t row_bytes = sizeof(upsurge_cell) * (size_t)data->key_count;
  upsurge_json_members members = {
    .base = p, .end = end, .limit = end, .pause = end, .keys = data->keys, .row = data->row, .spill = data->spill};
  uint64_t records = 0;
  while (p < end) {
    memset(data->row, 0, row_bytes);
    members.previous = -1;
    members.reading++;
    members.spill_byte_count = 0;
    p = upsurge_json_read_members(&members, p + 1, 0, false);
    records += p < end && *p == '}';
    const uint8_t *feed = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
    p = feed != NULL ? feed + 1 : end;
  }
  return records << 32 ^ members.filled_count;
}

static uint64_t check_records(kernel_data *data) {
  const uint8_t *p = data->ndjson.start, *end = p + data->ndjson.count;
  uint64_t records = 0;
  while (p < end) {
    upsurge_json_machine machine;
    upsurge_json_machine_start(&machine, 64);
    if (upsurge_json_machine_run(&machine, &p, end, true) != UPSURGE_JSON_DONE) return 0;
    records++;
    p = upsurge_json_skip_space(p, end);
  }
  return records;
}

static uint64_t unescape(kernel_data *data) {
  const uint8_t *start = data->escaped.start;
  return (uint64_t)upsurge_json_unescape(start, start + data->escaped.count, data->spill);
}

// What JSONKeyTable would have learnt from the first record.
static bool learn_keys(kernel_data *data) {
  enum { key_limit = 64 };
  data->keys = calloc(key_limit, sizeof *data->keys);
  data->row = calloc(key_limit, sizeof *data->row);
  if (data->keys == NULL || data->row == NULL) return false;
  data->keys[0] = (upsurge_json_key){.next = -1, .first_child = 1, .slot = UPSURGE_SLOT_SKIPPED};
  const uint8_t *p = data->ndjson.start + 1, *end = data->ndjson.start + data->ndjson.count;
  upsurge_json_token name, value;
  while (data->key_count + 1 < key_limit && *p == '"') {
    if (upsurge_json_read_string(p + 1, end, end, &name) != UPSURGE_JSON_OK || *name.next != ':') return false;
    if (upsurge_json_read_value(name.next + 1, end, end, &value) != UPSURGE_JSON_OK) return false;
    upsurge_json_key *key = &data->keys[++data->key_count];
    *key = (upsurge_json_key){
      .bytes = (uint8_t *)(uintptr_t)name.start, .byte_count = (size_t)(name.end - name.start) + 1,
      .next = data->key_count + 1, .first_child = -1, .slot = data->key_count - 1,
      .affinity = value.kind == UPSURGE_JSON_STRING ? UPSURGE_AFFINITY_TEXT : UPSURGE_AFFINITY_NUMERIC};
    memcpy(&key->head, key->bytes, key->byte_count < 8 ? key->byte_count : 8);
    if (*value.next == '}') return true;
    p = value.next + 1;
  }
  return false;
}

int json_kernels(kernel_data *data, kernel *kernels) {
  uint64_t bytes = data->ndjson.count;
  uint64_t records = upsurge_json_count_lines(data->ndjson.start, data->ndjson.start + bytes);
  int count = 0;
  if (learn_keys(data)) {
    kernels[count++] = (kernel){"NDJSON", "members into cells", read_records, bytes, records};
  }
  kernels[count++] = (kernel){"NDJSON", "checked only", check_records, bytes, records};
  kernels[count++] = (kernel){"unescape", "an escape every 16 bytes", unescape, data->escaped.count, 0};
  return count;
}
