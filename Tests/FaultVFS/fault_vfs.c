#include "fault_vfs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "disk.h"

/* An open file: SQLite's part, ours, and behind it the default VFS's. */
typedef struct {
  sqlite3_file base;
  fault_vfs *disk;
  disk_file *file;
  bool is_temporary;
  int kind; /* FAULT_DATABASE_FILE and so on */
  bool syncs_folder; /* the first sync makes names durable, as the default VFS does for journals and logs */
  _Alignas(8) unsigned char real[]; /* as SQLite aligns */
} open_file;

static sqlite3_file *real_of(sqlite3_file *file) { return (sqlite3_file *)((open_file *)file)->real; }

static const char *word(uint32_t kind) {
  switch (kind) {
    case FAULT_OPEN: return "open";
    case FAULT_READ: return "read";
    case FAULT_WRITE: return "write";
    case FAULT_SYNC: return "sync";
    case FAULT_TRUNCATE: return "truncate";
    case FAULT_DELETE: return "delete";
    case FAULT_LOCK: return "lock";
    case FAULT_FILE_SIZE: return "file-size";
    case FAULT_SHM_MAP: return "shm-map";
    case FAULT_ACCESS: return "access";
    case FAULT_UNLOCK: return "unlock";
    case FAULT_CHECK_LOCK: return "check-lock";
    case FAULT_SHM_UNMAP: return "shm-unmap";
    default: return "shm-lock";
  }
}

static const char *last_part(const char *path) {
  if (!path) return "a temporary file";
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* Counts a call; the mutex is held. Returns what it is to fail with, or SQLITE_OK. */
static int judge(fault_vfs *disk, uint32_t kind, const char *path, int dark_code) {
  disk->counts[__builtin_ctz(kind)] += 1;
  disk->last_error = 0;
  if (disk->awaits_loss && !disk->is_dark && (kind & FAULT_CHANGES)) {
    disk->changes += 1;
    if (disk->changes == disk->loss_at) {
      disk->is_dark = true;
      snprintf(disk->failure, sizeof disk->failure, "power loss at %s %s", word(kind), last_part(path));
    }
  }
  if (disk->is_dark) {
    disk->last_error = EIO;
    return dark_code;
  }
  if (!(disk->kinds & kind)) return SQLITE_OK;
  disk->seen += 1;
  if (disk->seen != disk->nth && !(disk->for_good && disk->seen > disk->nth)) return SQLITE_OK;
  if (!disk->failure[0])
    snprintf(disk->failure, sizeof disk->failure, "%s %s", word(kind), last_part(path));
  disk->last_error = disk->system_error;
  return disk->code;
}

static int judge_alone(fault_vfs *disk, uint32_t kind, const char *path, int dark_code) {
  pthread_mutex_lock(&disk->mutex);
  int code = judge(disk, kind, path, dark_code);
  pthread_mutex_unlock(&disk->mutex);
  return code;
}

static int judge_file(sqlite3_file *base, uint32_t kind, int dark_code) {
  open_file *file = (open_file *)base;
  return judge_alone(file->disk, kind, file->file->path, dark_code);
}

/* MARK: Files */

static int file_close(sqlite3_file *base) {
  open_file *file = (open_file *)base;
  fault_vfs *disk = file->disk;
  int code = real_of(base)->pMethods->xClose(real_of(base));
  pthread_mutex_lock(&disk->mutex);
  if (file->is_temporary) disk_remove(disk, file->file);
  disk->open_count -= 1;
  pthread_mutex_unlock(&disk->mutex);
  return code;
}

static int file_read(sqlite3_file *base, void *bytes, int count, sqlite3_int64 offset) {
  int code = judge_file(base, FAULT_READ, SQLITE_IOERR_READ);
  return code ? code : real_of(base)->pMethods->xRead(real_of(base), bytes, count, offset);
}

static int file_write(sqlite3_file *base, const void *bytes, int count, sqlite3_int64 offset) {
  open_file *file = (open_file *)base;
  fault_vfs *disk = file->disk;
  sqlite3_file *real = real_of(base);
  pthread_mutex_lock(&disk->mutex);
  bool was_dark = disk->is_dark;
  int code = judge(disk, FAULT_WRITE, file->file->path, SQLITE_IOERR_WRITE);
  sqlite3_int64 growth = offset + count - file->file->size;
  if (!code && disk->capacity && growth > 0 && disk_used(disk) + (uint64_t)growth > disk->capacity) {
    if (!disk->failure[0])
      snprintf(disk->failure, sizeof disk->failure, "full at write %s", last_part(file->file->path));
    code = SQLITE_FULL;
  }
  if (code && !disk->is_dark && count / 2 > 0) {
    count /= 2;
    if (real->pMethods->xWrite(real, bytes, count, offset)) count = 0;
  } else if (!code) {
    code = real->pMethods->xWrite(real, bytes, count, offset);
    if (!code) {
      disk->write_counts[file->kind] += 1;
      disk->bytes_written[file->kind] += (uint64_t)count;
    }
  }
  if (!was_dark && offset + count > file->file->size) file->file->size = offset + count;
  if (disk->awaits_loss && !was_dark && !file->is_temporary)
    disk_note_write(file->file, bytes, count, offset);
  pthread_mutex_unlock(&disk->mutex);
  return code;
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size) {
  open_file *file = (open_file *)base;
  fault_vfs *disk = file->disk;
  pthread_mutex_lock(&disk->mutex);
  bool was_dark = disk->is_dark;
  int code = judge(disk, FAULT_TRUNCATE, file->file->path, SQLITE_IOERR_TRUNCATE);
  if (disk->awaits_loss && !was_dark && !file->is_temporary && (!code || disk->is_dark))
    disk_note_truncation(file->file, size);
  if (!code) code = real_of(base)->pMethods->xTruncate(real_of(base), size);
  if (!code) file->file->size = size;
  pthread_mutex_unlock(&disk->mutex);
  return code;
}

static int file_sync(sqlite3_file *base, int flags) {
  open_file *file = (open_file *)base;
  fault_vfs *disk = file->disk;
  (void)flags; /* The test's own disk is spared; what counts as synced is kept in memory. */
  pthread_mutex_lock(&disk->mutex);
  int code = judge(disk, FAULT_SYNC, file->file->path, SQLITE_IOERR_FSYNC);
  if (!code && disk->awaits_loss && !file->is_temporary) {
    disk_note_sync(file->file);
    if (file->syncs_folder) disk_sync_folder(disk);
  }
  if (!code) file->syncs_folder = false;
  pthread_mutex_unlock(&disk->mutex);
  return code;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size) {
  int code = judge_file(base, FAULT_FILE_SIZE, SQLITE_IOERR_FSTAT);
  return code ? code : real_of(base)->pMethods->xFileSize(real_of(base), size);
}

static int file_lock(sqlite3_file *base, int level) {
  int code = judge_file(base, FAULT_LOCK, SQLITE_IOERR_LOCK);
  return code ? code : real_of(base)->pMethods->xLock(real_of(base), level);
}

static int file_unlock(sqlite3_file *base, int level) {
  int code = judge_file(base, FAULT_UNLOCK, SQLITE_OK);
  int real_code = real_of(base)->pMethods->xUnlock(real_of(base), level);
  return code ? code : real_code;
}

static int file_check_lock(sqlite3_file *base, int *is_reserved) {
  int code = judge_file(base, FAULT_CHECK_LOCK, SQLITE_IOERR_CHECKRESERVEDLOCK);
  return code ? code : real_of(base)->pMethods->xCheckReservedLock(real_of(base), is_reserved);
}

static int file_control(sqlite3_file *base, int operation, void *argument) {
  return real_of(base)->pMethods->xFileControl(real_of(base), operation, argument);
}

static int file_sector_size(sqlite3_file *base) {
  return real_of(base)->pMethods->xSectorSize(real_of(base));
}

static int file_characteristics(sqlite3_file *base) {
  return real_of(base)->pMethods->xDeviceCharacteristics(real_of(base));
}

static int file_shm_map(sqlite3_file *base, int page, int size, int extends, void volatile **memory) {
  int code = judge_file(base, FAULT_SHM_MAP, SQLITE_IOERR_SHMMAP);
  if (code) *memory = NULL;
  return code ? code : real_of(base)->pMethods->xShmMap(real_of(base), page, size, extends, memory);
}

static int file_shm_lock(sqlite3_file *base, int offset, int count, int flags) {
  if (flags & SQLITE_SHM_UNLOCK)
    return real_of(base)->pMethods->xShmLock(real_of(base), offset, count, flags);
  int code = judge_file(base, FAULT_SHM_LOCK, SQLITE_IOERR_SHMLOCK);
  return code ? code : real_of(base)->pMethods->xShmLock(real_of(base), offset, count, flags);
}

static void file_shm_barrier(sqlite3_file *base) { real_of(base)->pMethods->xShmBarrier(real_of(base)); }

static int file_shm_unmap(sqlite3_file *base, int deletes) {
  int code = judge_file(base, FAULT_SHM_UNMAP, SQLITE_OK);
  int real_code = real_of(base)->pMethods->xShmUnmap(real_of(base), deletes);
  return code ? code : real_code;
}

/* Version 2: shared memory, but no mapping of the file itself, which would bypass xRead. */
static const sqlite3_io_methods file_methods = {
    2,
    file_close,
    file_read,
    file_write,
    file_truncate,
    file_sync,
    file_size,
    file_lock,
    file_unlock,
    file_check_lock,
    file_control,
    file_sector_size,
    file_characteristics,
    file_shm_map,
    file_shm_lock,
    file_shm_barrier,
    file_shm_unmap,
    NULL,
    NULL,
};

/* MARK: The file system */

static fault_vfs *disk_of(sqlite3_vfs *vfs) { return (fault_vfs *)vfs; }

static int vfs_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *base, int flags, int *out_flags) {
  fault_vfs *disk = disk_of(vfs);
  open_file *file = (open_file *)base;
  memset(file, 0, sizeof *file);
  pthread_mutex_lock(&disk->mutex);
  int code = judge(disk, FAULT_OPEN, path, SQLITE_CANTOPEN);
  if (!code) {
    disk_file *known = disk_find(disk, path);
    bool existed = path && access(path, F_OK) == 0;
    code = disk->real->xOpen(disk->real, path, real_of(base), flags, out_flags);
    if (!code) {
      file->base.pMethods = &file_methods;
      file->disk = disk;
      file->is_temporary = !path || (flags & SQLITE_OPEN_DELETEONCLOSE);
      file->kind = flags & SQLITE_OPEN_MAIN_DB ? FAULT_DATABASE_FILE
                   : flags & SQLITE_OPEN_WAL   ? FAULT_LOG_FILE
                                               : FAULT_OTHER_FILE;
      file->syncs_folder =
          (flags & SQLITE_OPEN_CREATE) &&
          (flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL));
      file->file = known && !file->is_temporary ? known : disk_add(disk, path, existed);
      if (known && !known->exists) {
        /* Made anew while the deletion of its forerunner is not durable. */
        disk_note_truncation(known, 0);
        known->exists = true;
      }
      real_of(base)->pMethods->xFileSize(real_of(base), &file->file->size);
      disk->open_count += 1;
    }
  }
  pthread_mutex_unlock(&disk->mutex);
  return code;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *path, int syncs_folder) {
  fault_vfs *disk = disk_of(vfs);
  pthread_mutex_lock(&disk->mutex);
  bool was_dark = disk->is_dark;
  int code = judge(disk, FAULT_DELETE, path, SQLITE_IOERR_DELETE);
  disk_file *file = disk_find(disk, path);
  if (file && !was_dark && (!code || disk->is_dark)) file->exists = false;
  if (!code) code = disk->real->xDelete(disk->real, path, 0);
  if (!code && disk->awaits_loss && syncs_folder) disk_sync_folder(disk);
  if (!code && !disk->awaits_loss && file) disk_remove(disk, file);
  pthread_mutex_unlock(&disk->mutex);
  return code;
}

static int vfs_access(sqlite3_vfs *vfs, const char *path, int flags, int *result) {
  fault_vfs *disk = disk_of(vfs);
  int code = judge_alone(disk, FAULT_ACCESS, path, SQLITE_IOERR_ACCESS);
  return code ? code : disk->real->xAccess(disk->real, path, flags, result);
}

static int vfs_full_pathname(sqlite3_vfs *vfs, const char *path, int count, char *out) {
  fault_vfs *disk = disk_of(vfs);
  return disk->real->xFullPathname(disk->real, path, count, out);
}

static int vfs_randomness(sqlite3_vfs *vfs, int count, char *out) {
  fault_vfs *disk = disk_of(vfs);
  return disk->real->xRandomness(disk->real, count, out);
}

static int vfs_sleep(sqlite3_vfs *vfs, int microseconds) {
  fault_vfs *disk = disk_of(vfs);
  return disk->real->xSleep(disk->real, microseconds);
}

static int vfs_current_time(sqlite3_vfs *vfs, double *time) {
  fault_vfs *disk = disk_of(vfs);
  return disk->real->xCurrentTime(disk->real, time);
}

static int vfs_last_error(sqlite3_vfs *vfs, int count, char *out) {
  fault_vfs *disk = disk_of(vfs);
  int planned = disk->last_error;
  return planned ? planned : disk->real->xGetLastError(disk->real, count, out);
}

static int vfs_current_time64(sqlite3_vfs *vfs, sqlite3_int64 *time) {
  fault_vfs *disk = disk_of(vfs);
  return disk->real->xCurrentTimeInt64(disk->real, time);
}

/* MARK: What tests call */

fault_vfs *fault_vfs_new(void) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static unsigned made;
  fault_vfs *disk = calloc(1, sizeof *disk);
  if (!disk) abort();
  disk->real = sqlite3_vfs_find(NULL);
  pthread_mutex_init(&disk->mutex, NULL);
  pthread_mutex_lock(&mutex);
  snprintf(disk->name, sizeof disk->name, "fault-%u", ++made);
  pthread_mutex_unlock(&mutex);
  disk->base = (sqlite3_vfs){
      .iVersion = 2,
      .szOsFile = (int)sizeof(open_file) + disk->real->szOsFile,
      .mxPathname = disk->real->mxPathname,
      .zName = disk->name,
      .xOpen = vfs_open,
      .xDelete = vfs_delete,
      .xAccess = vfs_access,
      .xFullPathname = vfs_full_pathname,
      .xRandomness = vfs_randomness,
      .xSleep = vfs_sleep,
      .xCurrentTime = vfs_current_time,
      .xGetLastError = vfs_last_error,
      .xCurrentTimeInt64 = vfs_current_time64,
  };
  sqlite3_vfs_register(&disk->base, 0);
  return disk;
}

void fault_vfs_free(fault_vfs *disk) {
  sqlite3_vfs_unregister(&disk->base);
  while (disk->files) disk_remove(disk, disk->files);
  pthread_mutex_destroy(&disk->mutex);
  free(disk);
}

const char *fault_vfs_name(const fault_vfs *disk) { return disk->name; }

uint64_t fault_vfs_count(fault_vfs *disk, uint32_t kinds) {
  uint64_t count = 0;
  pthread_mutex_lock(&disk->mutex);
  for (int kind = 0; kind < 16; kind++)
    if (kinds >> kind & 1) count += disk->counts[kind];
  pthread_mutex_unlock(&disk->mutex);
  return count;
}

/* A number of the disk, read while nobody changes it. */
static uint64_t number(fault_vfs *disk, const uint64_t *place) {
  pthread_mutex_lock(&disk->mutex);
  uint64_t value = *place;
  pthread_mutex_unlock(&disk->mutex);
  return value;
}

uint64_t fault_vfs_write_count(fault_vfs *disk, int file) { return number(disk, &disk->write_counts[file]); }

uint64_t fault_vfs_bytes_written(fault_vfs *disk, int file) { return number(disk, &disk->bytes_written[file]); }

uint64_t fault_vfs_statement_count(fault_vfs *disk) { return number(disk, &disk->statement_count); }

uint64_t fault_vfs_operation_count(fault_vfs *disk) { return number(disk, &disk->operation_count); }

/* A statement has come to its end. */
static int note_statement(unsigned kind, void *context, void *statement, void *nanoseconds) {
  fault_vfs *disk = context;
  (void)kind;
  (void)nanoseconds;
  int operations = sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1);
  const char *sql = sqlite3_sql(statement);
  /* Some PRAGMAs come by the clock. */
  if (sql && sqlite3_strnicmp(sql, "PRAGMA", 6) == 0) return 0;
  pthread_mutex_lock(&disk->mutex);
  disk->statement_count += 1;
  disk->operation_count += (uint64_t)operations;
  pthread_mutex_unlock(&disk->mutex);
  return 0;
}

/* SQLite calls it with each new connection of the process. */
static int watch(sqlite3 *connection, char **message, const struct sqlite3_api_routines *routines) {
  sqlite3_vfs *vfs = NULL;
  (void)message;
  (void)routines;
  sqlite3_file_control(connection, "main", SQLITE_FCNTL_VFS_POINTER, &vfs);
  if (vfs && vfs->xOpen == vfs_open && disk_of(vfs)->counts_statements)
    sqlite3_trace_v2(connection, SQLITE_TRACE_PROFILE, note_statement, vfs);
  return SQLITE_OK;
}

static void watch_connections(void) { sqlite3_auto_extension((void (*)(void))watch); }

void fault_vfs_count_statements(fault_vfs *disk) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch_connections);
  disk->counts_statements = true;
}

int fault_vfs_open_count(fault_vfs *disk) {
  pthread_mutex_lock(&disk->mutex);
  int count = disk->open_count;
  pthread_mutex_unlock(&disk->mutex);
  return count;
}

void fault_vfs_fail(fault_vfs *disk, uint32_t kinds, uint64_t nth, int code, int system_error, bool for_good) {
  pthread_mutex_lock(&disk->mutex);
  disk->kinds = kinds;
  disk->nth = nth;
  disk->seen = 0;
  disk->code = code;
  disk->system_error = system_error;
  disk->for_good = for_good;
  disk->failure[0] = 0;
  pthread_mutex_unlock(&disk->mutex);
}

const char *fault_vfs_failure(fault_vfs *disk) {
  pthread_mutex_lock(&disk->mutex);
  const char *failure = disk->failure[0] ? disk->failure : NULL;
  pthread_mutex_unlock(&disk->mutex);
  return failure;
}

void fault_vfs_set_capacity(fault_vfs *disk, uint64_t byte_count) {
  pthread_mutex_lock(&disk->mutex);
  disk->capacity = byte_count;
  disk->failure[0] = 0;
  pthread_mutex_unlock(&disk->mutex);
}

void fault_vfs_lose_power(fault_vfs *disk, uint64_t nth) {
  pthread_mutex_lock(&disk->mutex);
  disk->awaits_loss = true;
  disk->is_dark = false;
  disk->loss_at = nth;
  disk->changes = 0;
  disk->failure[0] = 0;
  pthread_mutex_unlock(&disk->mutex);
}

bool fault_vfs_is_dark(fault_vfs *disk) {
  pthread_mutex_lock(&disk->mutex);
  bool is_dark = disk->is_dark;
  pthread_mutex_unlock(&disk->mutex);
  return is_dark;
}

bool fault_vfs_restore_power(fault_vfs *disk, uint64_t seed) {
  pthread_mutex_lock(&disk->mutex);
  bool is_done = disk->open_count == 0 && disk_rebuild(disk, seed);
  disk->awaits_loss = disk->is_dark = false;
  pthread_mutex_unlock(&disk->mutex);
  return is_done;
}
