#include <sqlite3.h>

// Swift cannot call variadic C functions.

/// Disables SQLite's memory statistics, which take one lock for all connections of the process
/// (SQLITE_CONFIG_MEMSTATUS, https://sqlite.org/c3ref/c_config_covering_index_scan.html). Has no effect after the first
/// use of SQLite.
static inline int sqlite_setup_without_memory_statistics(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }
