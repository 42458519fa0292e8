#include "CYAML.h"

#include <dlfcn.h>
#include <pthread.h>

#define FUNCTIONS(X)                                                                                          \
  X(yaml_parser_initialize)                                                                                   \
  X(yaml_parser_delete)                                                                                       \
  X(yaml_parser_set_input_string)                                                                             \
  X(yaml_parser_set_encoding)                                                                                 \
  X(yaml_parser_parse)                                                                                        \
  X(yaml_event_delete)                                                                                        \
  X(yaml_get_version_string)

/* Set once, before anyone calls them. */
#define DECLARE(name) static __typeof__(&name) p_##name;
FUNCTIONS(DECLARE)

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *failure;

static void load(void) {
  static const char *const names[] = {"libyaml-0.so.2", "libyaml-0.2.dylib", "/opt/homebrew/lib/libyaml-0.2.dylib"};
  void *library = NULL;
  for (size_t i = 0; library == NULL && i < sizeof names / sizeof *names; i++) {
    library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  }
  if (library == NULL) {
    failure = "libyaml is not installed";
    return;
  }
#define LOAD(name)                                                                                            \
  p_##name = (__typeof__(&name))dlsym(library, #name);                                                        \
  if (p_##name == NULL) {                                                                                     \
    failure = "libyaml has no " #name;                                                                        \
    return;                                                                                                   \
  }
  FUNCTIONS(LOAD)
}

const char *upsurge_yaml_load(void) {
  pthread_once(&once, load);
  return failure;
}

const char *upsurge_yaml_version(void) { return p_yaml_get_version_string(); }

yaml_parser_t *upsurge_yaml_open(const unsigned char *text, size_t byte_count) {
  yaml_parser_t *parser = malloc(sizeof *parser);
  if (parser == NULL) return NULL;
  if (!p_yaml_parser_initialize(parser)) {
    free(parser);
    return NULL;
  }
  p_yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING);
  p_yaml_parser_set_input_string(parser, text, byte_count);
  return parser;
}

void upsurge_yaml_close(yaml_parser_t *parser) {
  p_yaml_parser_delete(parser);
  free(parser);
}

int upsurge_yaml_next(yaml_parser_t *parser, yaml_event_t *event) { return p_yaml_parser_parse(parser, event); }

void upsurge_yaml_release(yaml_event_t *event) { p_yaml_event_delete(event); }
