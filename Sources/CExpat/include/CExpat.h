#ifndef UPSURGE_CEXPAT_H
#define UPSURGE_CEXPAT_H

/* The few functions of libexpat that read the XML of sheets.
 *
 * The library is loaded when a workbook is met first. They are declared here, as its binary interface is stable since version
 * 2: nobody who builds this needs its header. A document type, with which entities would come, ends the reading.
 */

#include <stddef.h>
#include <stdint.h>

/* Loads libexpat, once. Returns NULL, or why it cannot be used. May be called on any thread, before all others here. */
const char *upsurge_expat_load(void);

/* What libexpat calls itself: `expat_2.5.0`. */
const char *upsurge_expat_version(void);

/* What upsurge_expat_feed and upsurge_expat_resume return. */
enum { UPSURGE_EXPAT_ERROR, UPSURGE_EXPAT_OK, UPSURGE_EXPAT_SUSPENDED };

struct upsurge_expat;

/* What is to happen after a callback: more is read; reading waits until it is resumed; nothing more is wanted. */
enum { UPSURGE_EXPAT_GO_ON, UPSURGE_EXPAT_WAIT, UPSURGE_EXPAT_END };

/* Who is told what is read, each time with the context, and says what is to happen. Names and texts are UTF-8, and stay where they
 * are until it returns. */
typedef struct {
  /* Names and values of attributes come in turn, and NULL after them. */
  int32_t (*start)(void *context, const char *name, const char **attributes);
  int32_t (*end)(void *context, const char *name);
  int32_t (*text)(void *context, const char *bytes, int32_t count);
} upsurge_expat_callbacks;

/* A parser; NULL without memory. */
struct upsurge_expat *upsurge_expat_new(void *context, upsurge_expat_callbacks callbacks);
void upsurge_expat_free(struct upsurge_expat *parser);

/* Reads more. One that waits must be resumed before it is fed again. */
int upsurge_expat_feed(struct upsurge_expat *parser, const char *bytes, int count, int is_final);
int upsurge_expat_resume(struct upsurge_expat *parser);

/* Whether a callback wants nothing more. */
int upsurge_expat_has_ended(struct upsurge_expat *parser);
/* Whether a document type was met, which is not read. */
int upsurge_expat_has_type(struct upsurge_expat *parser);
/* Whether it needs more memory than any sheet does: too many names, elements in elements, or a tag of many attributes. */
int upsurge_expat_is_full(struct upsurge_expat *parser);
/* Why it failed, in libexpat's words. */
const char *upsurge_expat_error(struct upsurge_expat *parser);
/* Where it is in the text. */
int64_t upsurge_expat_line(struct upsurge_expat *parser);
int64_t upsurge_expat_byte(struct upsurge_expat *parser);

#endif
