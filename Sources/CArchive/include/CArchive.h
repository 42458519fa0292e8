#ifndef UPSURGE_CARCHIVE_H
#define UPSURGE_CARCHIVE_H

/* The few functions of libarchive that read members of archives, and streams of codecs.
 *
 * The library is loaded when such a file is met first: it brings a dozen others with it. They are declared here, as its binary
 * interface is stable since version 3: nobody who builds this needs its header.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Loads libarchive, once. Returns NULL, or why it cannot be used. May be called on any thread, before all others here. */
const char *upsurge_archive_load(void);

/* What libarchive calls itself: `libarchive 3.6.2`. */
const char *upsurge_archive_version(void);

/* What is read. */
enum {
  /* A stream that was compressed by one codec. */
  UPSURGE_ARCHIVE_XZ,
  UPSURGE_ARCHIVE_BZIP2,
  UPSURGE_ARCHIVE_LZ4,
  UPSURGE_ARCHIVE_COMPRESS,
  /* A tar archive that is not compressed. */
  UPSURGE_ARCHIVE_TAR,
  /* A zip archive, by the directory at its end. */
  UPSURGE_ARCHIVE_ZIP
};

/* What the functions below return, beside counts: ARCHIVE_EOF and ARCHIVE_OK, ARCHIVE_WARN of a name that cannot be converted;
   less is an error. */
enum { UPSURGE_ARCHIVE_END = 1, UPSURGE_ARCHIVE_OK = 0, UPSURGE_ARCHIVE_WARN = -20 };

/* What a member is, of archive_entry_filetype. */
enum { UPSURGE_ARCHIVE_FILE = 0100000, UPSURGE_ARCHIVE_LINK = 0120000, UPSURGE_ARCHIVE_FOLDER = 0040000 };

struct archive;
struct archive_entry;

/* How libarchive gets its bytes. `skip` and `seek` are NULL for a stream. */
typedef struct {
  /* The next bytes, which stay where they are until the next call; 0 at the end, -1 for an error. */
  ssize_t (*read)(struct archive *archive, void *context, const void **bytes);
  /* Steps over at most so many bytes; returns how many, 0 where it cannot. */
  int64_t (*skip)(struct archive *archive, void *context, int64_t count);
  /* As lseek(2); less than 0 where it cannot. */
  int64_t (*seek)(struct archive *archive, void *context, int64_t offset, int whence);
} upsurge_archive_callbacks;

/* A reader of one kind; NULL without memory. */
struct archive *upsurge_archive_new(int kind);
/* Begins to read: 0, or an error, also for what is of another kind. */
int upsurge_archive_open(struct archive *archive, void *context, upsurge_archive_callbacks callbacks);
void upsurge_archive_free(struct archive *archive);

/* The next member, or the stream itself. */
int upsurge_archive_next(struct archive *archive, struct archive_entry **entry);
/* The next block of its content, which stays where it is until the next call, and its offset there. */
int upsurge_archive_block(struct archive *archive, const void **bytes, size_t *count, int64_t *offset);

/* Why something failed, in libarchive's words; NULL where it says nothing. */
const char *upsurge_archive_error(struct archive *archive);
/* Whether the stream of a codec was found to be one; else its bytes come as they are. */
int upsurge_archive_is_decoding(struct archive *archive);
/* Bytes of the source that the stream of a codec has used so far. */
int64_t upsurge_archive_used(struct archive *archive);

/* The name of a member as it is stored, in UTF-8 where the archive says so; NULL where there is none. */
const char *upsurge_archive_name(struct archive_entry *entry);
int upsurge_archive_kind(struct archive_entry *entry);
/* Whether it is another name of a member before it. */
int upsurge_archive_is_hard_link(struct archive_entry *entry);
int upsurge_archive_is_encrypted(struct archive_entry *entry);
/* Its size in bytes; -1 where the archive does not say it. */
int64_t upsurge_archive_size(struct archive_entry *entry);
/* Seconds since 1970. */
int64_t upsurge_archive_time(struct archive_entry *entry);

#endif
