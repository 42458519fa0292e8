#ifndef UPSURGE_CCURL_H
#define UPSURGE_CCURL_H

/* The few functions of libcurl that fetch a URL, for Swift, which cannot call those with variable arguments.
 *
 * The library is loaded when it is needed first: it brings two dozen others with it, which would cost every start of the
 * command several milliseconds and as many MiB. Only types and constants come from its header.
 */

#define CURL_DISABLE_TYPECHECK 1
#define CURL_DISABLE_DEPRECATION 1
#include <curl/curl.h>
#include <stddef.h>

/* Loads libcurl, once. Returns NULL, or why it cannot be used. May be called on any thread, before all others here. */
const char *upsurge_curl_load(void);

/* What libcurl calls itself and the libraries that it uses: `libcurl/7.88.1 OpenSSL/3.0.17 ...`. */
const char *upsurge_curl_version(void);

/* A handle for one request: HTTP/1.1 over http or https, no redirects, no signals, bodies as they are sent, and the
   length of a body left to the caller. NULL without memory. */
CURL *upsurge_curl_open(void);
void upsurge_curl_close(CURL *handle);

/* 0, or what libcurl says. Texts are copied. */
int upsurge_curl_set_text(CURL *handle, CURLoption option, const char *text);
int upsurge_curl_set_number(CURL *handle, CURLoption option, long number);

/* `headers` must live as long as the handle, and `error` hold CURL_ERROR_SIZE bytes as long. */
int upsurge_curl_set_headers(CURL *handle, struct curl_slist *headers);
int upsurge_curl_set_error(CURL *handle, char *error);

/* Both callbacks are given `context`, and end the transfer by returning another number of bytes than they were given. */
int upsurge_curl_set_callbacks(CURL *handle, curl_write_callback header, curl_write_callback body, void *context);

struct curl_slist *upsurge_curl_append(struct curl_slist *list, const char *text);
void upsurge_curl_free_list(struct curl_slist *list);

/* A transfer that is driven step by step, so that it can end at any time. NULL without memory. */
CURLM *upsurge_curl_begin(CURL *handle);
void upsurge_curl_end(CURLM *transfer, CURL *handle);
/* Does what can be done at once. Returns 1 when the transfer has ended, with libcurl's code in `result`. */
int upsurge_curl_step(CURLM *transfer, int *result);
/* Waits until there is more to do, at most so long. */
void upsurge_curl_wait(CURLM *transfer, int milliseconds);

const char *upsurge_curl_text(int code);

/* A date of HTTP in seconds since 1970; -1 for what is none. */
long long upsurge_curl_date(const char *text);

/* The URL that a reference leads to, from `base`; NULL for what is none, or no http(s). Freed by upsurge_curl_free_text. */
char *upsurge_curl_resolve(const char *base, const char *reference);
void upsurge_curl_free_text(char *text);

/* pipe(2), closed on exec, neither end one of the standard streams; with room for `byte_count` where the system lets it.
   0, or errno. */
int upsurge_pipe(int ends[2], int byte_count);

/* fcntl(2): reads and writes fail with EAGAIN instead of waiting. */
void upsurge_set_nonblocking(int descriptor);

#endif
