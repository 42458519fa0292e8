#include "CIconv.h"

#include <errno.h>
#include <iconv.h>
#include <stdio.h>
#if defined(__GLIBC__)
#include <gnu/libc-version.h>
#endif

const char *upsurge_iconv_kind(void) {
  static char text[32];
#if defined(__GLIBC__)
  snprintf(text, sizeof text, "glibc %s", gnu_get_libc_version());
#elif defined(_LIBICONV_VERSION)
  snprintf(text, sizeof text, "libiconv %d.%d", _LIBICONV_VERSION >> 8, _LIBICONV_VERSION & 255);
#else
  snprintf(text, sizeof text, "of the C library");
#endif
  return text;
}

void *upsurge_iconv_open(const char *encoding) {
  iconv_t converter = iconv_open("UTF-8", encoding);
  return converter == (iconv_t)-1 ? NULL : (void *)converter;
}

void upsurge_iconv_close(void *converter) { iconv_close((iconv_t)converter); }

void upsurge_iconv_reset(void *converter) { iconv((iconv_t)converter, NULL, NULL, NULL, NULL); }

int upsurge_iconv_convert(
    void *converter, const void *input, size_t input_count, size_t *consumed, void *output, size_t output_count,
    size_t *produced) {
  char *from = (char *)input;
  char *to = output;
  size_t from_left = input_count;
  size_t to_left = output_count;
  size_t result = iconv((iconv_t)converter, &from, &from_left, &to, &to_left);
  int code = errno;
  /* glibc may step back in front of the input, to a letter that it had held back. */
  *consumed = from_left <= input_count ? input_count - from_left : 0;
  *produced = output_count - to_left;
  if (result != (size_t)-1) return UPSURGE_ICONV_DONE;
  if (code == E2BIG) return UPSURGE_ICONV_FULL;
  return code == EINVAL ? UPSURGE_ICONV_INCOMPLETE : UPSURGE_ICONV_INVALID;
}

size_t upsurge_iconv_flush(void *converter, void *output, size_t output_count) {
  char *to = output;
  size_t to_left = output_count;
  iconv((iconv_t)converter, NULL, NULL, &to, &to_left);
  return output_count - to_left;
}
