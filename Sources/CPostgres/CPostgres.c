#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "CPostgres.h"

#include <dlfcn.h>
#include <pthread.h>

#define FUNCTIONS(X)                                                                                          \
  X(PQlibVersion)                                                                                            \
  X(PQconnectStartParams)                                                                                     \
  X(PQconnectPoll)                                                                                            \
  X(PQfinish)                                                                                                 \
  X(PQstatus)                                                                                                 \
  X(PQsetErrorVerbosity)                                                                                      \
  X(PQerrorMessage)                                                                                           \
  X(PQsocket)                                                                                                 \
  X(PQbackendPID)                                                                                             \
  X(PQserverVersion)                                                                                          \
  X(PQhost)                                                                                                   \
  X(PQport)                                                                                                   \
  X(PQdb)                                                                                                     \
  X(PQparameterStatus)                                                                                        \
  X(PQtransactionStatus)                                                                                      \
  X(PQsetnonblocking)                                                                                         \
  X(PQsetNoticeReceiver)                                                                                      \
  X(PQconninfoParse)                                                                                          \
  X(PQconninfo)                                                                                               \
  X(PQconninfoFree)                                                                                           \
  X(PQfreemem)                                                                                                \
  X(PQsendQuery)                                                                                              \
  X(PQsendQueryParams)                                                                                        \
  X(PQsendPrepare)                                                                                            \
  X(PQsendQueryPrepared)                                                                                      \
  X(PQflush)                                                                                                  \
  X(PQconsumeInput)                                                                                           \
  X(PQisBusy)                                                                                                 \
  X(PQgetResult)                                                                                              \
  X(PQputCopyData)                                                                                            \
  X(PQputCopyEnd)                                                                                             \
  X(PQgetCopyData)                                                                                            \
  X(PQgetCancel)                                                                                              \
  X(PQcancel)                                                                                                 \
  X(PQfreeCancel)                                                                                             \
  X(PQresultStatus)                                                                                           \
  X(PQresultErrorField)                                                                                       \
  X(PQresultErrorMessage)                                                                                     \
  X(PQntuples)                                                                                                \
  X(PQnfields)                                                                                                \
  X(PQfname)                                                                                                  \
  X(PQftype)                                                                                                  \
  X(PQfmod)                                                                                                   \
  X(PQfformat)                                                                                                \
  X(PQgetisnull)                                                                                              \
  X(PQgetvalue)                                                                                               \
  X(PQgetlength)                                                                                              \
  X(PQcmdTuples)                                                                                              \
  X(PQcmdStatus)                                                                                              \
  X(PQclear)

/* Set once, before anyone calls them. */
#define DECLARE(name) static __typeof__(&name) p_##name;
FUNCTIONS(DECLARE)

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *failure;

static void load(void) {
  static const char *const names[] = {
      "libpq.so.5", "libpq.5.dylib", "/opt/homebrew/opt/libpq/lib/libpq.5.dylib", "libpq.so"};
  void *library = NULL;
  for (size_t i = 0; library == NULL && i < sizeof names / sizeof *names; i++) {
    library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  }
  if (library == NULL) {
    failure = "libpq is not installed";
    return;
  }
#define LOAD(name)                                                                                            \
  p_##name = (__typeof__(&name))dlsym(library, #name);                                                        \
  if (p_##name == NULL) {                                                                                     \
    failure = "libpq has no " #name;                                                                          \
    return;                                                                                                   \
  }
  FUNCTIONS(LOAD)
  /* A process may end while a thread still waits for a server: OpenSSL must not take itself apart under it. */
  int (*init_openssl)(unsigned long long, const void *) =
      (int (*)(unsigned long long, const void *))dlsym(library, "OPENSSL_init_crypto");
  if (init_openssl != NULL) init_openssl(0x00080000ULL /* OPENSSL_INIT_NO_ATEXIT */, NULL);
}

const char *upsurge_pq_load(void) {
  pthread_once(&once, load);
  return failure;
}

PGconn *upsurge_pq_connect_start(const char *const *keywords, const char *const *values, int expand) {
  return p_PQconnectStartParams(keywords, values, expand);
}

PostgresPollingStatusType upsurge_pq_connect_poll(PGconn *connection) { return p_PQconnectPoll(connection); }

void upsurge_pq_finish(PGconn *connection) { p_PQfinish(connection); }

ConnStatusType upsurge_pq_status(const PGconn *connection) { return p_PQstatus(connection); }

void upsurge_pq_say_states(PGconn *connection) { p_PQsetErrorVerbosity(connection, PQERRORS_VERBOSE); }

const char *upsurge_pq_error_message(const PGconn *connection) { return p_PQerrorMessage(connection); }

int upsurge_pq_socket(const PGconn *connection) { return p_PQsocket(connection); }

int upsurge_pq_backend(const PGconn *connection) { return p_PQbackendPID(connection); }

int upsurge_pq_library_version(void) { return p_PQlibVersion(); }

int upsurge_pq_server_version(const PGconn *connection) { return p_PQserverVersion(connection); }

const char *upsurge_pq_host(const PGconn *connection) { return p_PQhost(connection); }

const char *upsurge_pq_port(const PGconn *connection) { return p_PQport(connection); }

const char *upsurge_pq_database(const PGconn *connection) { return p_PQdb(connection); }

const char *upsurge_pq_parameter(const PGconn *connection, const char *name) {
  return p_PQparameterStatus(connection, name);
}

PGTransactionStatusType upsurge_pq_transaction_status(const PGconn *connection) {
  return p_PQtransactionStatus(connection);
}

int upsurge_pq_set_nonblocking(PGconn *connection) { return p_PQsetnonblocking(connection, 1); }

void upsurge_pq_set_notice_receiver(PGconn *connection, PQnoticeReceiver receiver, void *context) {
  p_PQsetNoticeReceiver(connection, receiver, context);
}

PQconninfoOption *upsurge_pq_parse(const char *url, char **error) { return p_PQconninfoParse(url, error); }

PQconninfoOption *upsurge_pq_options(PGconn *connection) { return p_PQconninfo(connection); }

void upsurge_pq_free_options(PQconninfoOption *options) { p_PQconninfoFree(options); }

void upsurge_pq_free(void *memory) { p_PQfreemem(memory); }

int upsurge_pq_send(PGconn *connection, const char *sql) { return p_PQsendQuery(connection, sql); }

int upsurge_pq_send_params(
    PGconn *connection, const char *sql, int count, const Oid *types, const char *const *values, const int *lengths,
    const int *formats, int result_format) {
  return p_PQsendQueryParams(connection, sql, count, types, values, lengths, formats, result_format);
}

int upsurge_pq_send_prepare(PGconn *connection, const char *sql) {
  return p_PQsendPrepare(connection, "", sql, 0, NULL);
}

int upsurge_pq_send_prepared(
    PGconn *connection, int count, const char *const *values, const int *lengths, const int *formats, int result_format) {
  return p_PQsendQueryPrepared(connection, "", count, values, lengths, formats, result_format);
}

int upsurge_pq_flush(PGconn *connection) { return p_PQflush(connection); }

int upsurge_pq_consume(PGconn *connection) { return p_PQconsumeInput(connection); }

int upsurge_pq_is_busy(PGconn *connection) { return p_PQisBusy(connection); }

PGresult *upsurge_pq_result(PGconn *connection) { return p_PQgetResult(connection); }

int upsurge_pq_put_copy(PGconn *connection, const void *bytes, int byte_count) {
  return p_PQputCopyData(connection, bytes, byte_count);
}

int upsurge_pq_end_copy(PGconn *connection, const char *error) { return p_PQputCopyEnd(connection, error); }

int upsurge_pq_get_copy(PGconn *connection, char **row) { return p_PQgetCopyData(connection, row, 1); }

PGcancel *upsurge_pq_cancel_of(PGconn *connection) { return p_PQgetCancel(connection); }

int upsurge_pq_cancel(PGcancel *cancel) {
  char error[256];
  return p_PQcancel(cancel, error, (int)sizeof error);
}

void upsurge_pq_free_cancel(PGcancel *cancel) { p_PQfreeCancel(cancel); }

ExecStatusType upsurge_pq_result_status(const PGresult *result) { return p_PQresultStatus(result); }

const char *upsurge_pq_result_field(const PGresult *result, int field) { return p_PQresultErrorField(result, field); }

const char *upsurge_pq_result_message(const PGresult *result) { return p_PQresultErrorMessage(result); }

int upsurge_pq_row_count(const PGresult *result) { return p_PQntuples(result); }

int upsurge_pq_column_count(const PGresult *result) { return p_PQnfields(result); }

const char *upsurge_pq_column_name(const PGresult *result, int column) { return p_PQfname(result, column); }

Oid upsurge_pq_column_type(const PGresult *result, int column) { return p_PQftype(result, column); }

int upsurge_pq_column_modifier(const PGresult *result, int column) { return p_PQfmod(result, column); }

int upsurge_pq_column_format(const PGresult *result, int column) { return p_PQfformat(result, column); }

int upsurge_pq_is_null(const PGresult *result, int row, int column) { return p_PQgetisnull(result, row, column); }

const char *upsurge_pq_value(const PGresult *result, int row, int column) {
  return p_PQgetvalue(result, row, column);
}

int upsurge_pq_value_length(const PGresult *result, int row, int column) {
  return p_PQgetlength(result, row, column);
}

const char *upsurge_pq_affected(PGresult *result) { return p_PQcmdTuples(result); }

const char *upsurge_pq_command(PGresult *result) { return p_PQcmdStatus(result); }

void upsurge_pq_clear(PGresult *result) { p_PQclear(result); }
