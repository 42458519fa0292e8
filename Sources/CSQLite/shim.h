#include <sqlite3.h>

/* Swift cannot call C functions with variable arguments; this is the one form of sqlite3_db_config we need. */
static inline int upsurge_db_config_flag(sqlite3 *db, int option, int value) {
  return sqlite3_db_config(db, option, value, (int *)0);
}

/* 1 or 0, how a flag is set now; 0 where this SQLite does not know it. */
static inline int upsurge_db_config_state(sqlite3 *db, int option) {
  int state = 0;
  sqlite3_db_config(db, option, -1, &state);
  return state;
}
