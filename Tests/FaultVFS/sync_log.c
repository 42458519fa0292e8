#define _GNU_SOURCE
#include "sync_log.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char noted_folder[4096];
static char noted[64 << 10];
static size_t noted_count;

void sync_log_begin(const char *folder) {
  pthread_mutex_lock(&lock);
  snprintf(noted_folder, sizeof noted_folder, "%s", folder);
  noted_count = 0;
  pthread_mutex_unlock(&lock);
}

size_t sync_log_end(char *text, size_t capacity) {
  pthread_mutex_lock(&lock);
  size_t count = noted_count < capacity ? noted_count : capacity;
  memcpy(text, noted, count);
  noted_folder[0] = 0;
  pthread_mutex_unlock(&lock);
  return count;
}

#ifdef __linux__
#include <sys/syscall.h>

static void note(int descriptor) {
  pthread_mutex_lock(&lock);
  size_t length = strlen(noted_folder);
  if (length > 0) {
    char link[64];
    char path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t count = readlink(link, path, sizeof path);
    if (count >= (ssize_t)length && memcmp(path, noted_folder, length) == 0 &&
        noted_count + (size_t)count - length + 1 <= sizeof noted) {
      memcpy(noted + noted_count, path + length, (size_t)count - length);
      noted_count += (size_t)count - length;
      noted[noted_count++] = '\n';
    }
  }
  pthread_mutex_unlock(&lock);
}

int fsync(int descriptor) {
  note(descriptor);
  return (int)syscall(SYS_fsync, descriptor);
}

int fdatasync(int descriptor) {
  note(descriptor);
  return (int)syscall(SYS_fdatasync, descriptor);
}
#endif
