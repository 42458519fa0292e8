#include "disk.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Disks write sectors; a write that a power loss cuts ends between two. */
enum { SECTOR = 512 };

static void *allocate(size_t count) {
  void *memory = calloc(1, count ? count : 1);
  if (!memory) abort();
  return memory;
}

/* MARK: Files */

disk_file *disk_find(fault_vfs *disk, const char *path) {
  for (disk_file *file = disk->files; file; file = file->next)
    if (path && file->path && strcmp(file->path, path) == 0) return file;
  return NULL;
}

static void forget_changes(disk_file *file) {
  while (file->first) {
    change *next = file->first->next;
    free(file->first);
    file->first = next;
  }
  file->last = &file->first;
}

static void read_synced(disk_file *file) {
  int descriptor = open(file->path, O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (descriptor < 0) return;
  if (fstat(descriptor, &status) == 0) {
    file->synced = allocate((size_t)status.st_size);
    ssize_t count = read(descriptor, file->synced, (size_t)status.st_size);
    file->synced_count = count < 0 ? 0 : (size_t)count;
  }
  close(descriptor);
}

disk_file *disk_add(fault_vfs *disk, const char *path, bool existed) {
  disk_file *file = allocate(sizeof *file);
  file->path = path ? strdup(path) : NULL;
  file->exists = true;
  file->is_named = existed;
  file->last = &file->first;
  file->next = disk->files;
  disk->files = file;
  if (disk->awaits_loss && existed) read_synced(file);
  return file;
}

void disk_remove(fault_vfs *disk, disk_file *file) {
  disk_file **link = &disk->files;
  while (*link && *link != file) link = &(*link)->next;
  if (*link) *link = file->next;
  forget_changes(file);
  free(file->synced);
  free(file->path);
  free(file);
}

uint64_t disk_used(const fault_vfs *disk) {
  uint64_t used = 0;
  for (const disk_file *file = disk->files; file; file = file->next)
    if (file->exists) used += (uint64_t)file->size;
  return used;
}

/* MARK: Changes */

static void note(disk_file *file, change *entry) {
  *file->last = entry;
  file->last = &entry->next;
}

void disk_note_write(disk_file *file, const void *bytes, int count, sqlite3_int64 offset) {
  change *entry = allocate(sizeof *entry + (size_t)count);
  entry->offset = offset;
  entry->count = (size_t)count;
  memcpy(entry->bytes, bytes, (size_t)count);
  note(file, entry);
}

void disk_note_truncation(disk_file *file, sqlite3_int64 size) {
  change *entry = allocate(sizeof *entry);
  entry->offset = size;
  entry->is_truncation = true;
  note(file, entry);
}

static void resize(disk_file *file, size_t count) {
  if (count > file->synced_count) {
    unsigned char *bytes = realloc(file->synced, count);
    if (!bytes) abort();
    memset(bytes + file->synced_count, 0, count - file->synced_count);
    file->synced = bytes;
  }
  file->synced_count = count;
}

/* Applies the bytes [from, to) of a write. */
static void apply(disk_file *file, const change *entry, size_t from, size_t to) {
  if (from >= to) return;
  size_t end = (size_t)entry->offset + to;
  if (end > file->synced_count) resize(file, end);
  memcpy(file->synced + entry->offset + from, entry->bytes + from, to - from);
}

void disk_note_sync(disk_file *file) {
  for (const change *entry = file->first; entry; entry = entry->next) {
    if (entry->is_truncation)
      resize(file, (size_t)entry->offset);
    else
      apply(file, entry, 0, entry->count);
  }
  forget_changes(file);
}

void disk_sync_folder(fault_vfs *disk) {
  for (disk_file *file = disk->files, *next; file; file = next) {
    next = file->next;
    if (!file->path) continue;
    file->is_named = file->exists;
    if (!file->exists) disk_remove(disk, file);
  }
}

/* MARK: Power loss */

/* SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t next_random(uint64_t *state) {
  uint64_t mixed = *state += 0x9E3779B97F4A7C15u;
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
  return mixed ^ (mixed >> 31);
}

static bool chance(uint64_t *state, unsigned percent) { return next_random(state) % 100 < percent; }

/* A border between two sectors of the file, within the write. */
static size_t random_border(uint64_t *state, const change *entry) {
  size_t lead = (SECTOR - (size_t)entry->offset % SECTOR) % SECTOR;
  if (lead >= entry->count) return 0;
  return lead + SECTOR * (next_random(state) % ((entry->count - lead) / SECTOR + 1));
}

static void apply_some(disk_file *file, uint64_t *state, unsigned kept_percent) {
  for (const change *entry = file->first; entry; entry = entry->next) {
    if (entry->is_truncation) {
      if (chance(state, kept_percent)) resize(file, (size_t)entry->offset);
    } else if (chance(state, 20)) {
      size_t border = random_border(state, entry);
      if (chance(state, 50))
        apply(file, entry, 0, border);
      else
        apply(file, entry, border, entry->count);
    } else if (chance(state, kept_percent)) {
      apply(file, entry, 0, entry->count);
    }
  }
  forget_changes(file);
}

static bool write_synced(const disk_file *file) {
  int descriptor = open(file->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (descriptor < 0) return false;
  size_t done = 0;
  while (done < file->synced_count) {
    ssize_t count = write(descriptor, file->synced + done, file->synced_count - done);
    if (count <= 0) break;
    done += (size_t)count;
  }
  close(descriptor);
  return done == file->synced_count;
}

bool disk_rebuild(fault_vfs *disk, uint64_t seed) {
  static const unsigned shares[] = {0, 10, 50, 90, 100};
  uint64_t state = seed;
  bool is_done = true;
  while (disk->files) {
    disk_file *file = disk->files;
    if (file->path) {
      bool survives = file->exists == file->is_named ? file->exists : chance(&state, 50);
      /* Of each file another share: the log whole and the database not, and the reverse. */
      apply_some(file, &state, shares[next_random(&state) % 5]);
      if (survives)
        is_done &= write_synced(file);
      else
        unlink(file->path);
    }
    disk_remove(disk, file);
  }
  return is_done;
}
