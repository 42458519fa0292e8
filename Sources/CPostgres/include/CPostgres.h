#ifndef UPSURGE_CPOSTGRES_H
#define UPSURGE_CPOSTGRES_H

/* The functions of libpq that a store needs.
 *
 * The library is loaded when a postgres:// or postgresql:// is opened first: it brings 25 others with it (GSSAPI, LDAP, OpenSSL),
 * which would cost every start of the command four milliseconds. Only types and constants come from its header.
 */

#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#elif __has_include(<postgresql/libpq-fe.h>)
#include <postgresql/libpq-fe.h>
#elif __has_include("/opt/homebrew/opt/libpq/include/libpq-fe.h")
#include "/opt/homebrew/opt/libpq/include/libpq-fe.h"
#else
#error "the header of libpq is missing: apt-get install libpq-dev, or brew install libpq"
#endif
#include <stddef.h>

/* Loads libpq, once. Returns NULL, or why it cannot be used. May be called on any thread, before all others here. */
const char *upsurge_pq_load(void);

/* PQlibVersion: 150018 for 15.18. */
int upsurge_pq_library_version(void);

/* Each of the others is the function of libpq of its name: PQconnectStartParams is upsurge_pq_connect_start, and so on. */

/* NULL-terminated keywords and values; `expand` reads a URL or a string of settings where `dbname` has one. */
PGconn *upsurge_pq_connect_start(const char *const *keywords, const char *const *values, int expand);
PostgresPollingStatusType upsurge_pq_connect_poll(PGconn *connection);
void upsurge_pq_finish(PGconn *connection);
ConnStatusType upsurge_pq_status(const PGconn *connection);
/* PQsetErrorVerbosity(PQERRORS_VERBOSE): messages of an attempt to connect begin with their SQLSTATE. */
void upsurge_pq_say_states(PGconn *connection);
const char *upsurge_pq_error_message(const PGconn *connection);
int upsurge_pq_socket(const PGconn *connection);
int upsurge_pq_backend(const PGconn *connection);
int upsurge_pq_server_version(const PGconn *connection);
const char *upsurge_pq_host(const PGconn *connection);
const char *upsurge_pq_port(const PGconn *connection);
const char *upsurge_pq_database(const PGconn *connection);
const char *upsurge_pq_parameter(const PGconn *connection, const char *name);
PGTransactionStatusType upsurge_pq_transaction_status(const PGconn *connection);
int upsurge_pq_set_nonblocking(PGconn *connection);
void upsurge_pq_set_notice_receiver(PGconn *connection, PQnoticeReceiver receiver, void *context);

/* What a URL says, and what is really used; freed by upsurge_pq_free_options. `error` is freed by upsurge_pq_free. */
PQconninfoOption *upsurge_pq_parse(const char *url, char **error);
PQconninfoOption *upsurge_pq_options(PGconn *connection);
void upsurge_pq_free_options(PQconninfoOption *options);
void upsurge_pq_free(void *memory);

int upsurge_pq_send(PGconn *connection, const char *sql);
int upsurge_pq_send_params(
    PGconn *connection, const char *sql, int count, const Oid *types, const char *const *values, const int *lengths,
    const int *formats, int result_format);
/* The unnamed statement of the session: the next one that is prepared, or sent without parameters, takes its place. */
int upsurge_pq_send_prepare(PGconn *connection, const char *sql);
int upsurge_pq_send_prepared(
    PGconn *connection, int count, const char *const *values, const int *lengths, const int *formats, int result_format);
int upsurge_pq_flush(PGconn *connection);
int upsurge_pq_consume(PGconn *connection);
int upsurge_pq_is_busy(PGconn *connection);
PGresult *upsurge_pq_result(PGconn *connection);

int upsurge_pq_put_copy(PGconn *connection, const void *bytes, int byte_count);
int upsurge_pq_end_copy(PGconn *connection, const char *error);
int upsurge_pq_get_copy(PGconn *connection, char **row);

PGcancel *upsurge_pq_cancel_of(PGconn *connection);
int upsurge_pq_cancel(PGcancel *cancel);
void upsurge_pq_free_cancel(PGcancel *cancel);

ExecStatusType upsurge_pq_result_status(const PGresult *result);
const char *upsurge_pq_result_field(const PGresult *result, int field);
const char *upsurge_pq_result_message(const PGresult *result);
int upsurge_pq_row_count(const PGresult *result);
int upsurge_pq_column_count(const PGresult *result);
const char *upsurge_pq_column_name(const PGresult *result, int column);
Oid upsurge_pq_column_type(const PGresult *result, int column);
int upsurge_pq_column_modifier(const PGresult *result, int column);
int upsurge_pq_column_format(const PGresult *result, int column);
int upsurge_pq_is_null(const PGresult *result, int row, int column);
const char *upsurge_pq_value(const PGresult *result, int row, int column);
int upsurge_pq_value_length(const PGresult *result, int row, int column);
const char *upsurge_pq_affected(PGresult *result);
const char *upsurge_pq_command(PGresult *result);
void upsurge_pq_clear(PGresult *result);

#endif
