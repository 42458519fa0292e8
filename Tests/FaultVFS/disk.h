/* What the files of a fault_vfs hold and held; see fault_vfs.h. */
#ifndef FAULT_DISK_H
#define FAULT_DISK_H

#include <pthread.h>
#include <sqlite3.h>

#include "fault_vfs.h"

/* A change of a file that no sync has made durable. */
typedef struct change {
  struct change *next;
  sqlite3_int64 offset; /* of a write; the new size of a truncation */
  size_t count;
  bool is_truncation;
  unsigned char bytes[];
} change;

/* A file by its path; outlives its handles. */
typedef struct disk_file {
  struct disk_file *next;
  char *path; /* NULL: a temporary file, which SQLite deletes */
  sqlite3_int64 size;
  bool exists;
  /* While a power loss is awaited: */
  bool is_named;         /* its name survives the loss */
  unsigned char *synced; /* what survives of its content */
  size_t synced_count;
  change *first, **last; /* what happened since */
} disk_file;

struct fault_vfs {
  sqlite3_vfs base;
  sqlite3_vfs *real;
  char name[32];
  pthread_mutex_t mutex; /* protects all that follows */
  disk_file *files;
  int open_count;
  uint64_t counts[16];
  uint64_t write_counts[3], bytes_written[3]; /* by FAULT_DATABASE_FILE and so on */
  bool counts_statements;
  uint64_t statement_count, operation_count;
  /* The plan. */
  uint32_t kinds;
  uint64_t nth, seen;
  int code, system_error;
  bool for_good;
  char failure[256];
  int last_error; /* errno of the last call that failed by plan; 0 otherwise */
  uint64_t capacity;
  bool awaits_loss, is_dark;
  uint64_t loss_at, changes;
};

disk_file *disk_find(fault_vfs *, const char *path);
disk_file *disk_add(fault_vfs *, const char *path, bool existed);
void disk_remove(fault_vfs *, disk_file *);

/* Bytes that all files take. */
uint64_t disk_used(const fault_vfs *);

void disk_note_write(disk_file *, const void *bytes, int count, sqlite3_int64 offset);
void disk_note_truncation(disk_file *, sqlite3_int64 size);
void disk_note_sync(disk_file *);

/* Names become as durable as they are now. */
void disk_sync_folder(fault_vfs *);

bool disk_rebuild(fault_vfs *, uint64_t seed);

#endif
