#include <sqlite3.h>

#include <errno.h>
#include <stdio.h>
#include <unistd.h>
#if defined(__linux__)
#include <fcntl.h>
#include <sys/syscall.h>
#endif

/* Renames a file unless the new name is taken: 0, or -1 with errno, which is EEXIST then. Swift's Glibc lacks
   renameat2(2). */
static inline int upsurge_rename_new(const char *from, const char *to) {
#if defined(__linux__) && defined(SYS_renameat2)
  return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 1 /* RENAME_NOREPLACE */);
#elif defined(__APPLE__)
  return renamex_np(from, to, RENAME_EXCL);
#else
  errno = ENOSYS;
  return -1;
#endif
}

/* Lets the system begin to write a part of a file to the disk, so that a later fsync has less to wait for; a hint. */
static inline void upsurge_begin_writeback(int descriptor, long long offset, long long count) {
#if defined(__linux__) && defined(SYS_sync_file_range) && __SIZEOF_POINTER__ == 8
  syscall(SYS_sync_file_range, descriptor, offset, count, 2 /* SYNC_FILE_RANGE_WRITE */);
#else
  (void)descriptor;
  (void)offset;
  (void)count;
#endif
}

/* Swift cannot call C functions with variable arguments; this is the one form of sqlite3_db_config we need. */
static inline int upsurge_db_config_flag(sqlite3 *db, int option, int value) {
  return sqlite3_db_config(db, option, value, (int *)0);
}

/* 1 or 0, how a flag is set now; 0 where this SQLite does not know it. */
static inline int upsurge_db_config_state(sqlite3 *db, int option) {
  int state = 0;
  sqlite3_db_config(db, option, -1, &state);
  return state;
}
