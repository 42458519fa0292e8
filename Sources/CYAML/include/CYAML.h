#ifndef UPSURGE_CYAML_H
#define UPSURGE_CYAML_H

/* The event parser of libyaml, for job files.
 *
 * The library is loaded when the first job file is read: no other command needs it, nor has to find it to start. Only
 * types and constants come from its header.
 */

#if __has_include(<yaml.h>)
#include <yaml.h>
#elif __has_include("/opt/homebrew/include/yaml.h")
#include "/opt/homebrew/include/yaml.h"
#else
#error "the header of libyaml is missing: apt-get install libyaml-dev, or brew install libyaml"
#endif

/* Loads libyaml, once. Returns NULL, or why it cannot be used. May be called on any thread, before all others here. */
const char *upsurge_yaml_load(void);

/* The version of libyaml: `0.2.5`. */
const char *upsurge_yaml_version(void);

/* A parser of UTF-8, which must stay where it is until the parser is closed. NULL without memory. */
yaml_parser_t *upsurge_yaml_open(const unsigned char *text, size_t byte_count);
void upsurge_yaml_close(yaml_parser_t *parser);

/* yaml_parser_parse: 1, or 0 with what is wrong in the parser. */
int upsurge_yaml_next(yaml_parser_t *parser, yaml_event_t *event);

/* yaml_event_delete: what the event points to. */
void upsurge_yaml_release(yaml_event_t *event);

#endif
