#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "CArchive.h"

#include <dlfcn.h>
#include <locale.h>
#include <pthread.h>
#include <time.h>
#if defined(__APPLE__)
#include <xlocale.h>
#endif

typedef __typeof__(*((upsurge_archive_callbacks *)0)->read) read_callback;
typedef __typeof__(*((upsurge_archive_callbacks *)0)->skip) skip_callback;
typedef __typeof__(*((upsurge_archive_callbacks *)0)->seek) seek_callback;

/* As archive.h and archive_entry.h declare them. */
const char *archive_version_string(void);
struct archive *archive_read_new(void);
int archive_read_free(struct archive *);
int archive_read_support_filter_xz(struct archive *);
int archive_read_support_filter_bzip2(struct archive *);
int archive_read_support_filter_lz4(struct archive *);
int archive_read_support_filter_compress(struct archive *);
int archive_read_support_format_empty(struct archive *);
int archive_read_support_format_raw(struct archive *);
int archive_read_support_format_tar(struct archive *);
int archive_read_support_format_zip_seekable(struct archive *);
int archive_read_set_callback_data(struct archive *, void *);
int archive_read_set_read_callback(struct archive *, read_callback *);
int archive_read_set_skip_callback(struct archive *, skip_callback *);
int archive_read_set_seek_callback(struct archive *, seek_callback *);
int archive_read_open1(struct archive *);
int archive_read_next_header(struct archive *, struct archive_entry **);
int archive_read_data_block(struct archive *, const void **, size_t *, int64_t *);
const char *archive_error_string(struct archive *);
int archive_filter_count(struct archive *);
int64_t archive_filter_bytes(struct archive *, int);
const char *archive_entry_pathname(struct archive_entry *);
const char *archive_entry_hardlink(struct archive_entry *);
mode_t archive_entry_filetype(struct archive_entry *);
int archive_entry_is_encrypted(struct archive_entry *);
int archive_entry_size_is_set(struct archive_entry *);
int64_t archive_entry_size(struct archive_entry *);
time_t archive_entry_mtime(struct archive_entry *);

#define FUNCTIONS(X)                                                                                          \
  X(archive_version_string)                                                                                   \
  X(archive_read_new)                                                                                         \
  X(archive_read_free)                                                                                        \
  X(archive_read_support_filter_xz)                                                                           \
  X(archive_read_support_filter_bzip2)                                                                        \
  X(archive_read_support_filter_lz4)                                                                          \
  X(archive_read_support_filter_compress)                                                                     \
  X(archive_read_support_format_empty)                                                                        \
  X(archive_read_support_format_raw)                                                                          \
  X(archive_read_support_format_tar)                                                                          \
  X(archive_read_support_format_zip_seekable)                                                                 \
  X(archive_read_set_callback_data)                                                                           \
  X(archive_read_set_read_callback)                                                                           \
  X(archive_read_set_skip_callback)                                                                           \
  X(archive_read_set_seek_callback)                                                                           \
  X(archive_read_open1)                                                                                       \
  X(archive_read_next_header)                                                                                 \
  X(archive_read_data_block)                                                                                  \
  X(archive_error_string)                                                                                     \
  X(archive_filter_count)                                                                                     \
  X(archive_filter_bytes)                                                                                     \
  X(archive_entry_pathname)                                                                                   \
  X(archive_entry_hardlink)                                                                                   \
  X(archive_entry_filetype)                                                                                   \
  X(archive_entry_is_encrypted)                                                                               \
  X(archive_entry_size_is_set)                                                                                \
  X(archive_entry_size)                                                                                       \
  X(archive_entry_mtime)

/* Set once, before anyone calls them. */
#define DECLARE(name) static __typeof__(&name) p_##name;
FUNCTIONS(DECLARE)

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *failure;
/* In which names are UTF-8, whatever the process has chosen; 0 where the system has none. */
static locale_t utf8;

static void load(void) {
  static const char *const names[] = {
      "libarchive.so.13", "libarchive.13.dylib", "/opt/homebrew/opt/libarchive/lib/libarchive.13.dylib",
      "/usr/lib/libarchive.2.dylib", "libarchive.so"};
  void *library = NULL;
  for (size_t i = 0; library == NULL && i < sizeof names / sizeof *names; i++) {
    library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  }
  if (library == NULL) {
    failure = "libarchive is not installed";
    return;
  }
#define LOAD(name)                                                                                            \
  p_##name = (__typeof__(&name))dlsym(library, #name);                                                        \
  if (p_##name == NULL) {                                                                                     \
    failure = "libarchive has no " #name ", so it is older than 3.2";                                         \
    return;                                                                                                   \
  }
  FUNCTIONS(LOAD)
  static const char *const locales[] = {"C.UTF-8", "en_US.UTF-8", "UTF-8"};
  for (size_t i = 0; utf8 == (locale_t)0 && i < sizeof locales / sizeof *locales; i++) {
    utf8 = newlocale(LC_CTYPE_MASK, locales[i], (locale_t)0);
  }
}

const char *upsurge_archive_load(void) {
  pthread_once(&once, load);
  return failure;
}

const char *upsurge_archive_version(void) { return p_archive_version_string(); }

struct archive *upsurge_archive_new(int kind) {
  struct archive *archive = p_archive_read_new();
  if (archive == NULL) return NULL;
  int code = UPSURGE_ARCHIVE_OK;
  switch (kind) {
    case UPSURGE_ARCHIVE_XZ: code = p_archive_read_support_filter_xz(archive); break;
    case UPSURGE_ARCHIVE_BZIP2: code = p_archive_read_support_filter_bzip2(archive); break;
    case UPSURGE_ARCHIVE_LZ4: code = p_archive_read_support_filter_lz4(archive); break;
    case UPSURGE_ARCHIVE_COMPRESS: code = p_archive_read_support_filter_compress(archive); break;
    case UPSURGE_ARCHIVE_TAR: code = p_archive_read_support_format_tar(archive); break;
    default: code = p_archive_read_support_format_zip_seekable(archive); break;
  }
  if (code == UPSURGE_ARCHIVE_OK && kind < UPSURGE_ARCHIVE_TAR) {
    code = p_archive_read_support_format_raw(archive);
    /* What is in the stream may be nothing, which is not of the first format. */
    if (code == UPSURGE_ARCHIVE_OK) code = p_archive_read_support_format_empty(archive);
  }
  /* A warning says that another program would be run for it. */
  if (code == UPSURGE_ARCHIVE_OK) return archive;
  p_archive_read_free(archive);
  return NULL;
}

int upsurge_archive_open(struct archive *archive, void *context, upsurge_archive_callbacks callbacks) {
  p_archive_read_set_callback_data(archive, context);
  p_archive_read_set_read_callback(archive, callbacks.read);
  if (callbacks.skip != NULL) p_archive_read_set_skip_callback(archive, callbacks.skip);
  if (callbacks.seek != NULL) p_archive_read_set_seek_callback(archive, callbacks.seek);
  return p_archive_read_open1(archive);
}

void upsurge_archive_free(struct archive *archive) { p_archive_read_free(archive); }

int upsurge_archive_next(struct archive *archive, struct archive_entry **entry) {
  locale_t former = utf8 == (locale_t)0 ? (locale_t)0 : uselocale(utf8);
  int code = p_archive_read_next_header(archive, entry);
  if (former != (locale_t)0) uselocale(former);
  return code;
}

int upsurge_archive_block(struct archive *archive, const void **bytes, size_t *count, int64_t *offset) {
  return p_archive_read_data_block(archive, bytes, count, offset);
}

const char *upsurge_archive_error(struct archive *archive) { return p_archive_error_string(archive); }

int upsurge_archive_is_decoding(struct archive *archive) { return p_archive_filter_count(archive) > 1; }

int64_t upsurge_archive_used(struct archive *archive) { return p_archive_filter_bytes(archive, -1); }

const char *upsurge_archive_name(struct archive_entry *entry) {
  locale_t former = utf8 == (locale_t)0 ? (locale_t)0 : uselocale(utf8);
  const char *name = p_archive_entry_pathname(entry);
  if (former != (locale_t)0) uselocale(former);
  return name;
}

int upsurge_archive_kind(struct archive_entry *entry) { return (int)p_archive_entry_filetype(entry); }

int upsurge_archive_is_hard_link(struct archive_entry *entry) { return p_archive_entry_hardlink(entry) != NULL; }

int upsurge_archive_is_encrypted(struct archive_entry *entry) { return p_archive_entry_is_encrypted(entry); }

int64_t upsurge_archive_size(struct archive_entry *entry) {
  return p_archive_entry_size_is_set(entry) ? p_archive_entry_size(entry) : -1;
}

int64_t upsurge_archive_time(struct archive_entry *entry) { return (int64_t)p_archive_entry_mtime(entry); }
