/* An SQLite VFS over the default one whose files fail on demand: the nth call of some kind, a disk of so many
 * bytes, or a power loss that takes what was not synced.
 *
 *     fault_vfs *disk = fault_vfs_new();              registered with SQLite under fault_vfs_name(disk)
 *     fault_vfs_fail(disk, FAULT_WRITE, 17, ...);     before the connection is opened
 *     ... a load ...
 *     fault_vfs_free(disk);                           when no connection is left
 *
 * The files are those of the default VFS, at their own paths, shared memory and locks included. The functions
 * may be called on any thread. */
#ifndef FAULT_VFS_H
#define FAULT_VFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct fault_vfs fault_vfs;

/* Kinds of calls; they can be joined by |. */
enum {
  FAULT_OPEN = 1 << 0,
  FAULT_READ = 1 << 1,
  FAULT_WRITE = 1 << 2,
  FAULT_SYNC = 1 << 3,
  FAULT_TRUNCATE = 1 << 4,
  FAULT_DELETE = 1 << 5,
  FAULT_LOCK = 1 << 6,
  FAULT_FILE_SIZE = 1 << 7,
  FAULT_SHM_MAP = 1 << 8,
  FAULT_SHM_LOCK = 1 << 9,
  /* Whether a journal or log is there; what SQLite tells nobody of or goes on after: the lock is given up all the
   * same. */
  FAULT_ACCESS = 1 << 10,
  FAULT_UNLOCK = 1 << 11,
  FAULT_CHECK_LOCK = 1 << 12,
  FAULT_SHM_UNMAP = 1 << 13,
  /* What changes the disk: the calls that a power loss is counted in. */
  FAULT_CHANGES = FAULT_WRITE | FAULT_SYNC | FAULT_TRUNCATE | FAULT_DELETE
};

/* Files by what they are. */
enum {
  FAULT_DATABASE_FILE,
  /* The write-ahead log. */
  FAULT_LOG_FILE,
  /* Journals of transactions and statements, and temporary files. */
  FAULT_OTHER_FILE
};

fault_vfs *fault_vfs_new(void);
void fault_vfs_free(fault_vfs *);
const char *fault_vfs_name(const fault_vfs *);

/* Calls of these kinds so far, failed ones included. */
uint64_t fault_vfs_count(fault_vfs *, uint32_t kinds);

/* Writes to files of one kind that have not failed, and their bytes. */
uint64_t fault_vfs_write_count(fault_vfs *, int file);
uint64_t fault_vfs_bytes_written(fault_vfs *, int file);

/* From now on, before a connection is opened, statements are counted that run to their end or are reset, PRAGMAs left
 * out, and the operations of SQLite's virtual machine in them. */
void fault_vfs_count_statements(fault_vfs *);
uint64_t fault_vfs_statement_count(fault_vfs *);
uint64_t fault_vfs_operation_count(fault_vfs *);

/* Files that are open through it. */
int fault_vfs_open_count(fault_vfs *);

/* The nth (from 1) call of these kinds from now on returns `code`, with `system_error` as errno; with `for_good` so
 * do all that follow. A write that fails has written its first half. */
void fault_vfs_fail(fault_vfs *, uint32_t kinds, uint64_t nth, int code, int system_error, bool for_good);

/* What failed first, such as "write a.db-wal"; NULL while nothing has. Valid until the next plan. */
const char *fault_vfs_failure(fault_vfs *);

/* All files together have room for so many bytes; a write that would need more returns SQLITE_FULL. 0: no bound. */
void fault_vfs_set_capacity(fault_vfs *, uint64_t byte_count);

/* Remembers from now on, before a file is opened, what is synced; the power fails at the nth call that changes the
 * disk. From then on every call fails. */
void fault_vfs_lose_power(fault_vfs *, uint64_t nth);
bool fault_vfs_is_dark(fault_vfs *);

/* Makes the files what a disk could hold after the loss: all that was synced, and of each later write, truncation,
 * creation and deletion all, a part (cut at 512 bytes) or nothing, as `seed` says: of each file another share. Cuts the power if it is still on.
 * No file may be open. Returns false when a file cannot be written. */
bool fault_vfs_restore_power(fault_vfs *, uint64_t seed);

#endif
