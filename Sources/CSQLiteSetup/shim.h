#include <sqlite3.h>

// Swift cannot call a function with variable arguments.

/// Keeps SQLite from counting the bytes of its allocations, which it does under one lock for all connections of the
/// process (SQLITE_CONFIG_MEMSTATUS, https://sqlite.org/c3ref/c_config_covering_index_scan.html). Without effect after
/// the first use of SQLite.
static inline int sqlite_setup_without_memory_statistics(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }
