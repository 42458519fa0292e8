#ifndef UPSURGE_CICONV_H
#define UPSURGE_CICONV_H

/* iconv(3) of the C library, or of libiconv, without its in-out pointers; always to UTF-8. */

#include <stddef.h>

/* Whose iconv it is: `glibc 2.36`, `libiconv 1.17`. */
const char *upsurge_iconv_kind(void);

/* A converter to UTF-8 from the encoding that iconv knows by this name; NULL when it knows none. */
void *upsurge_iconv_open(const char *encoding);
void upsurge_iconv_close(void *converter);

/* Back to the state of a text's start. */
void upsurge_iconv_reset(void *converter);

enum {
  /* All of the input was converted. */
  UPSURGE_ICONV_DONE,
  /* There is no room for the next character. */
  UPSURGE_ICONV_FULL,
  /* What is left of the input is the first part of a character. */
  UPSURGE_ICONV_INCOMPLETE,
  /* What is left of the input begins with bytes that are no character. */
  UPSURGE_ICONV_INVALID
};

/* Converts whole characters, as long as there are any and they fit. Sets how many bytes were read and written. */
int upsurge_iconv_convert(
    void *converter, const void *input, size_t input_count, size_t *consumed, void *output, size_t output_count,
    size_t *produced);

/* Writes the characters that were held back because they may combine with the next one; returns their length. */
size_t upsurge_iconv_flush(void *converter, void *output, size_t output_count);

#endif
