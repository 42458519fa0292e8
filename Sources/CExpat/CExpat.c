#include "CExpat.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

typedef struct XML_ParserStruct *XML_Parser;
typedef void (*start_handler)(void *, const char *, const char **);
typedef void (*end_handler)(void *, const char *);
typedef void (*text_handler)(void *, const char *, int);
typedef void (*type_handler)(void *, const char *, const char *, const char *, int);

/* As expat.h declares them. */
typedef struct {
  void *(*malloc_fcn)(size_t);
  void *(*realloc_fcn)(void *, size_t);
  void (*free_fcn)(void *);
} XML_Memory_Handling_Suite;
const char *XML_ExpatVersion(void);
XML_Parser XML_ParserCreate_MM(const char *, const XML_Memory_Handling_Suite *, const char *);
void XML_ParserFree(XML_Parser);
void XML_SetUserData(XML_Parser, void *);
void XML_SetElementHandler(XML_Parser, start_handler, end_handler);
void XML_SetCharacterDataHandler(XML_Parser, text_handler);
void XML_SetStartDoctypeDeclHandler(XML_Parser, type_handler);
int XML_Parse(XML_Parser, const char *, int, int);
int XML_ResumeParser(XML_Parser);
int XML_StopParser(XML_Parser, unsigned char);
int XML_GetErrorCode(XML_Parser);
const char *XML_ErrorString(int);
unsigned long XML_GetCurrentLineNumber(XML_Parser);
long XML_GetCurrentByteIndex(XML_Parser);

#define FUNCTIONS(X)                                                                                          \
  X(XML_ExpatVersion)                                                                                         \
  X(XML_ParserCreate_MM)                                                                                      \
  X(XML_ParserFree)                                                                                           \
  X(XML_SetUserData)                                                                                          \
  X(XML_SetElementHandler)                                                                                    \
  X(XML_SetCharacterDataHandler)                                                                              \
  X(XML_SetStartDoctypeDeclHandler)                                                                           \
  X(XML_Parse)                                                                                                \
  X(XML_ResumeParser)                                                                                         \
  X(XML_StopParser)                                                                                           \
  X(XML_GetErrorCode)                                                                                         \
  X(XML_ErrorString)                                                                                          \
  X(XML_GetCurrentLineNumber)                                                                                 \
  X(XML_GetCurrentByteIndex)

/* Set once, before anyone calls them. */
#define DECLARE(name) static __typeof__(&name) p_##name;
FUNCTIONS(DECLARE)

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *failure;

static void load(void) {
  static const char *const names[] = {
      "libexpat.so.1", "libexpat.1.dylib", "/opt/homebrew/opt/expat/lib/libexpat.1.dylib", "/usr/lib/libexpat.1.dylib",
      "libexpat.so"};
  void *library = NULL;
  for (size_t i = 0; library == NULL && i < sizeof names / sizeof *names; i++) {
    library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  }
  if (library == NULL) {
    failure = "libexpat is not installed";
    return;
  }
#define LOAD(name)                                                                                            \
  p_##name = (__typeof__(&name))dlsym(library, #name);                                                        \
  if (p_##name == NULL) {                                                                                     \
    failure = "libexpat has no " #name ", so it is older than 2.1";                                           \
    return;                                                                                                   \
  }
  FUNCTIONS(LOAD)
}

struct upsurge_expat {
  XML_Parser parser;
  void *context;
  upsurge_expat_callbacks callbacks;
  int has_type;
  int has_ended;
  /* What libexpat holds for it, and whether it wanted more than it may have. */
  size_t byte_count;
  int is_full;
};

/* Libexpat keeps each name that it meets, and each element that is open: without a bound a small file takes all memory. No sheet
 * that a program wrote comes near it. */
static const size_t memory_limit = 8 << 20;

/* The parser that this thread has called: the functions for memory are given none. */
static _Thread_local struct upsurge_expat *current;

/* Stands before each block. */
union head {
  size_t byte_count;
  max_align_t alignment;
};

static void *resize(void *block, size_t count) {
  union head *head = block == NULL ? NULL : (union head *)block - 1;
  size_t before = head == NULL ? 0 : head->byte_count;
  size_t after = count + sizeof *head;
  if (count > memory_limit || current->byte_count - before + after > memory_limit) {
    current->is_full = 1;
    return NULL;
  }
  head = realloc(head, after);
  if (head == NULL) return NULL;
  current->byte_count += after - before;
  head->byte_count = after;
  return head + 1;
}

static void *allocate(size_t count) { return resize(NULL, count); }

static void release(void *block) {
  if (block == NULL) return;
  union head *head = (union head *)block - 1;
  current->byte_count -= head->byte_count;
  free(head);
}

static void take(struct upsurge_expat *parser, int32_t step) {
  if (step == UPSURGE_EXPAT_GO_ON) return;
  parser->has_ended = step == UPSURGE_EXPAT_END;
  p_XML_StopParser(parser->parser, step == UPSURGE_EXPAT_WAIT);
}

/* After a stop, callbacks may come that belong to the same tag. */
static void on_start(void *data, const char *name, const char **attributes) {
  struct upsurge_expat *parser = data;
  if (!parser->has_ended) take(parser, parser->callbacks.start(parser->context, name, attributes));
}

static void on_end(void *data, const char *name) {
  struct upsurge_expat *parser = data;
  if (!parser->has_ended) take(parser, parser->callbacks.end(parser->context, name));
}

static void on_text(void *data, const char *bytes, int count) {
  struct upsurge_expat *parser = data;
  if (!parser->has_ended) take(parser, parser->callbacks.text(parser->context, bytes, count));
}

static void on_type(void *data, const char *name, const char *system, const char *public, int has_subset) {
  struct upsurge_expat *parser = data;
  (void)name, (void)system, (void)public, (void)has_subset;
  parser->has_type = 1;
  p_XML_StopParser(parser->parser, 0);
}

const char *upsurge_expat_load(void) {
  pthread_once(&once, load);
  return failure;
}

const char *upsurge_expat_version(void) { return p_XML_ExpatVersion(); }

struct upsurge_expat *upsurge_expat_new(void *context, upsurge_expat_callbacks callbacks) {
  struct upsurge_expat *parser = calloc(1, sizeof *parser);
  if (parser == NULL) return NULL;
  static const XML_Memory_Handling_Suite memory = {allocate, resize, release};
  current = parser;
  parser->parser = p_XML_ParserCreate_MM(NULL, &memory, NULL);
  if (parser->parser == NULL) {
    free(parser);
    return NULL;
  }
  parser->context = context;
  parser->callbacks = callbacks;
  p_XML_SetUserData(parser->parser, parser);
  p_XML_SetElementHandler(parser->parser, on_start, on_end);
  p_XML_SetCharacterDataHandler(parser->parser, on_text);
  p_XML_SetStartDoctypeDeclHandler(parser->parser, on_type);
  return parser;
}

void upsurge_expat_free(struct upsurge_expat *parser) {
  current = parser;
  p_XML_ParserFree(parser->parser);
  free(parser);
}

int upsurge_expat_feed(struct upsurge_expat *parser, const char *bytes, int count, int is_final) {
  current = parser;
  return p_XML_Parse(parser->parser, bytes, count, is_final);
}

int upsurge_expat_resume(struct upsurge_expat *parser) {
  current = parser;
  return p_XML_ResumeParser(parser->parser);
}

int upsurge_expat_has_ended(struct upsurge_expat *parser) { return parser->has_ended; }

int upsurge_expat_has_type(struct upsurge_expat *parser) { return parser->has_type; }

int upsurge_expat_is_full(struct upsurge_expat *parser) { return parser->is_full; }

const char *upsurge_expat_error(struct upsurge_expat *parser) {
  return p_XML_ErrorString(p_XML_GetErrorCode(parser->parser));
}

int64_t upsurge_expat_line(struct upsurge_expat *parser) {
  return (int64_t)p_XML_GetCurrentLineNumber(parser->parser);
}

int64_t upsurge_expat_byte(struct upsurge_expat *parser) { return (int64_t)p_XML_GetCurrentByteIndex(parser->parser); }
