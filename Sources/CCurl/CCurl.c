#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "CCurl.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#define FUNCTIONS(X)                                                                                          \
  X(curl_global_init)                                                                                         \
  X(curl_easy_init)                                                                                           \
  X(curl_easy_cleanup)                                                                                        \
  X(curl_easy_setopt)                                                                                         \
  X(curl_easy_strerror)                                                                                       \
  X(curl_slist_append)                                                                                        \
  X(curl_slist_free_all)                                                                                      \
  X(curl_multi_init)                                                                                          \
  X(curl_multi_cleanup)                                                                                       \
  X(curl_multi_add_handle)                                                                                    \
  X(curl_multi_remove_handle)                                                                                 \
  X(curl_multi_perform)                                                                                       \
  X(curl_multi_poll)                                                                                          \
  X(curl_multi_info_read)                                                                                     \
  X(curl_getdate)                                                                                             \
  X(curl_url)                                                                                                 \
  X(curl_url_set)                                                                                             \
  X(curl_url_get)                                                                                             \
  X(curl_url_cleanup)                                                                                         \
  X(curl_free)                                                                                                \
  X(curl_version)

/* Set once, before anyone calls them. */
#define DECLARE(name) static __typeof__(&name) p_##name;
FUNCTIONS(DECLARE)

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *failure;

static void load(void) {
  static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.4.dylib", "libcurl.so"};
  void *library = NULL;
  for (size_t i = 0; library == NULL && i < sizeof names / sizeof *names; i++) {
    library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  }
  if (library == NULL) {
    failure = "libcurl is not installed";
    return;
  }
#define LOAD(name)                                                                                            \
  p_##name = (__typeof__(&name))dlsym(library, #name);                                                        \
  if (p_##name == NULL) {                                                                                     \
    failure = "libcurl has no " #name ", so it is older than 7.66";                                           \
    return;                                                                                                   \
  }
  FUNCTIONS(LOAD)
  /* A process may end while a thread still fetches: OpenSSL must not take itself apart under it. */
  int (*init_openssl)(unsigned long long, const void *) =
      (int (*)(unsigned long long, const void *))dlsym(library, "OPENSSL_init_crypto");
  if (init_openssl != NULL) init_openssl(0x00080000ULL /* OPENSSL_INIT_NO_ATEXIT */, NULL);
  if (p_curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) failure = "libcurl cannot be set up";
}

const char *upsurge_curl_load(void) {
  pthread_once(&once, load);
  return failure;
}

const char *upsurge_curl_version(void) { return p_curl_version(); }

CURL *upsurge_curl_open(void) {
  CURL *handle = p_curl_easy_init();
  if (handle == NULL) return NULL;
  p_curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  p_curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 1L);
  p_curl_easy_setopt(handle, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
  p_curl_easy_setopt(handle, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
  p_curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
  p_curl_easy_setopt(handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  p_curl_easy_setopt(handle, CURLOPT_IGNORE_CONTENT_LENGTH, 1L);
  p_curl_easy_setopt(handle, CURLOPT_TCP_KEEPALIVE, 1L);
  p_curl_easy_setopt(handle, CURLOPT_BUFFERSIZE, 262144L);
  return handle;
}

void upsurge_curl_close(CURL *handle) { p_curl_easy_cleanup(handle); }

int upsurge_curl_set_text(CURL *handle, CURLoption option, const char *text) {
  return (int)p_curl_easy_setopt(handle, option, text);
}

int upsurge_curl_set_number(CURL *handle, CURLoption option, long number) {
  return (int)p_curl_easy_setopt(handle, option, number);
}

int upsurge_curl_set_headers(CURL *handle, struct curl_slist *headers) {
  return (int)p_curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
}

int upsurge_curl_set_error(CURL *handle, char *error) {
  return (int)p_curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, error);
}

int upsurge_curl_set_callbacks(CURL *handle, curl_write_callback header, curl_write_callback body, void *context) {
  CURLcode code = p_curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, header);
  if (code == CURLE_OK) code = p_curl_easy_setopt(handle, CURLOPT_HEADERDATA, context);
  if (code == CURLE_OK) code = p_curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, body);
  if (code == CURLE_OK) code = p_curl_easy_setopt(handle, CURLOPT_WRITEDATA, context);
  return (int)code;
}

struct curl_slist *upsurge_curl_append(struct curl_slist *list, const char *text) {
  struct curl_slist *longer = p_curl_slist_append(list, text);
  if (longer == NULL) p_curl_slist_free_all(list);
  return longer;
}

void upsurge_curl_free_list(struct curl_slist *list) { p_curl_slist_free_all(list); }

CURLM *upsurge_curl_begin(CURL *handle) {
  CURLM *transfer = p_curl_multi_init();
  if (transfer == NULL) return NULL;
  if (p_curl_multi_add_handle(transfer, handle) == CURLM_OK) return transfer;
  p_curl_multi_cleanup(transfer);
  return NULL;
}

void upsurge_curl_end(CURLM *transfer, CURL *handle) {
  p_curl_multi_remove_handle(transfer, handle);
  p_curl_multi_cleanup(transfer);
}

int upsurge_curl_step(CURLM *transfer, int *result) {
  int count = 0;
  if (p_curl_multi_perform(transfer, &count) != CURLM_OK) {
    *result = (int)CURLE_OUT_OF_MEMORY;
    return 1;
  }
  CURLMsg *message = p_curl_multi_info_read(transfer, &count);
  if (message == NULL || message->msg != CURLMSG_DONE) return 0;
  *result = (int)message->data.result;
  return 1;
}

void upsurge_curl_wait(CURLM *transfer, int milliseconds) {
  p_curl_multi_poll(transfer, NULL, 0, milliseconds, NULL);
}

const char *upsurge_curl_text(int code) { return p_curl_easy_strerror((CURLcode)code); }

long long upsurge_curl_date(const char *text) { return (long long)p_curl_getdate(text, NULL); }

char *upsurge_curl_resolve(const char *base, const char *reference) {
  CURLU *url = p_curl_url();
  if (url == NULL) return NULL;
  char *scheme = NULL;
  char *whole = NULL;
  if (p_curl_url_set(url, CURLUPART_URL, base, 0) == CURLUE_OK
      && p_curl_url_set(url, CURLUPART_URL, reference, CURLU_URLENCODE) == CURLUE_OK
      && p_curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK
      && (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0)) {
    if (p_curl_url_get(url, CURLUPART_URL, &whole, 0) != CURLUE_OK) whole = NULL;
  }
  p_curl_free(scheme);
  p_curl_url_cleanup(url);
  return whole;
}

void upsurge_curl_free_text(char *text) { p_curl_free(text); }

static int above_standard_streams(int descriptor) {
  if (descriptor > 2) return descriptor;
  int other = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
  int code = errno;
  close(descriptor);
  errno = code;
  return other;
}

int upsurge_pipe(int ends[2], int byte_count) {
#if defined(__linux__)
  if (pipe2(ends, O_CLOEXEC) != 0) return errno;
#else
  if (pipe(ends) != 0) return errno;
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
#endif
  for (int i = 0; i < 2; i++) {
    ends[i] = above_standard_streams(ends[i]);
    if (ends[i] < 0) {
      int code = errno;
      close(ends[1 - i]);
      return code;
    }
  }
#if defined(F_SETPIPE_SZ)
  fcntl(ends[1], F_SETPIPE_SZ, byte_count);
#else
  (void)byte_count;
#endif
  return 0;
}

void upsurge_set_nonblocking(int descriptor) {
  int flags = fcntl(descriptor, F_GETFL);
  if (flags >= 0) fcntl(descriptor, F_SETFL, flags | O_NONBLOCK);
}
