#include <sqlite3.h>

/* Swift cannot call C functions with variable arguments; this is the one form of sqlite3_db_config we need. */
static inline int upsurge_db_config_flag(sqlite3 *db, int option, int value) {
  return sqlite3_db_config(db, option, value, (int *)0);
}
