#include <sqlite3.h>

// A C wrapper is needed because Swift cannot call variadic functions such as sqlite3_config.

/// Turns off SQLite's memory statistics, which all connections of the process update under one lock
/// (SQLITE_CONFIG_MEMSTATUS, https://sqlite.org/c3ref/c_config_covering_index_scan.html). Has no effect after the first
/// use of SQLite.
static inline int sqlite_setup_without_memory_statistics(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

/// Makes closing a connection leave the write-ahead log as it is (SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE,
/// https://sqlite.org/c3ref/c_dbconfig_defensive.html).
static inline void sqlite_setup_without_checkpoint_on_close(sqlite3 *database) {
  sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}
