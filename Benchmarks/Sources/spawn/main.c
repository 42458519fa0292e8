// Runs a command and writes what it took: a process so small that it adds nothing to the peak memory that the kernel
// counts for its child. (What a child held before it became the command counts, and a Python holds 20 MiB and more.)

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static double seconds_of(struct timeval time) { return (double)time.tv_sec + (double)time.tv_usec / 1e6; }

static double now_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argument_count, char **arguments) {
  if (argument_count < 3) {
    fputs(
      "usage: spawn REPORT COMMAND [ARGUMENT …]\n"
      "Writes to the file REPORT: seconds, seconds of processor time, peak resident memory (KiB; bytes on Darwin),\n"
      "wait status.\n", stderr);
    return 64;
  }
  FILE *report = fopen(arguments[1], "we");
  if (report == NULL) {
    fprintf(stderr, "spawn: %s: %s\n", arguments[1], strerror(errno));
    return 73;
  }
  pid_t child;
  struct rusage usage;
  int status;
  double start = now_seconds();
  int code = posix_spawnp(&child, arguments[2], NULL, NULL, arguments + 2, environ);
  if (code != 0) {
    fprintf(stderr, "spawn: %s: %s\n", arguments[2], strerror(code));
    return 127;
  }
  while (wait4(child, &status, 0, &usage) < 0) {
    if (errno != EINTR) return 1;
  }
  double seconds = now_seconds() - start;
  double processor = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  fprintf(report, "%.9f %.6f %ld %d\n", seconds, processor, usage.ru_maxrss, status);
  return fclose(report) == 0 ? 0 : 1;
}
