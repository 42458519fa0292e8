// More threads for tests than there are cores.
//
// Most tests wait: for a command that they have started, or for a server. Swift's own pool has one thread a core, and a test that
// waits keeps its thread, so on two cores two thirds of the time nobody computes. Jobs of the pool run here instead, on twice as
// many threads as there are cores and at least four, or on UPSURGE_TEST_THREADS of them. 0 leaves them to Swift's pool.
#if defined(__linux__)
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UPSURGE_LEAVES_POOL 1
#endif
#endif

#if !defined(UPSURGE_LEAVES_POOL)
#define SWIFT_CALL __attribute__((swiftcall))

// Of the runtime: runs a job, on no actor where the two words of the executor are null; and what it calls for each job of the pool.
typedef SWIFT_CALL void (*run_function)(void *job, void *identity, void *implementation);
typedef SWIFT_CALL void (*enqueue_function)(void *job);
typedef SWIFT_CALL void (*hook_function)(void *job, enqueue_function original);

typedef struct entry {
  void *job;
  struct entry *next;
} entry;

static run_function run_job;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t is_filled = PTHREAD_COND_INITIALIZER;
static entry *first;
static entry **end = &first;

static void *work(void *unused) {
  for (;;) {
    pthread_mutex_lock(&mutex);
    while (!first) pthread_cond_wait(&is_filled, &mutex);
    entry *taken = first;
    first = taken->next;
    if (!first) end = &first;
    pthread_mutex_unlock(&mutex);
    run_job(taken->job, NULL, NULL);
    free(taken);
  }
  return unused;
}

static SWIFT_CALL void enqueue(void *job, enqueue_function original) {
  entry *added = malloc(sizeof *added);
  if (!added) {
    original(job);
    return;
  }
  added->job = job;
  added->next = NULL;
  pthread_mutex_lock(&mutex);
  *end = added;
  end = &added->next;
  pthread_cond_signal(&is_filled);
  pthread_mutex_unlock(&mutex);
}

__attribute__((constructor)) static void begin(void) {
  hook_function *hook = (hook_function *)dlsym(RTLD_DEFAULT, "swift_task_enqueueGlobal_hook");
  run_job = (run_function)dlsym(RTLD_DEFAULT, "swift_job_run");
  const char *given = getenv("UPSURGE_TEST_THREADS");
  long count = given ? strtol(given, NULL, 10) : 2 * sysconf(_SC_NPROCESSORS_ONLN);
  if (!given && count < 4) count = 4;
  if (!hook || !run_job || count < 1) return;

  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 8 << 20);
  long started = 0;
  pthread_t thread;
  while (started < count && started < 64 && pthread_create(&thread, &attributes, work, NULL) == 0) started++;
  pthread_attr_destroy(&attributes);
  if (started > 0) *hook = enqueue;
}
#endif
#endif
