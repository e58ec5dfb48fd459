#ifndef CSQLITE_SHIM_H
#define CSQLITE_SHIM_H

#include <sqlite3.h>

/// SQLITE_TRANSIENT is a cast of -1 to a function pointer, a macro that Swift cannot import.
static inline int csqlite_bind_text(sqlite3_stmt *statement, int index, const char *text, int bytes) {
    return sqlite3_bind_text(statement, index, text, bytes, SQLITE_TRANSIENT);
}

/// As above, for blobs.
static inline int csqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int count) {
    return count == 0 ? sqlite3_bind_zeroblob(statement, index, 0)
                      : sqlite3_bind_blob(statement, index, bytes, count, SQLITE_TRANSIENT);
}

/// sqlite3_db_config() is variadic, which Swift cannot call. For the options that are switched on (1) or off (0).
static inline int csqlite_db_config(sqlite3 *connection, int option, int value) {
    return sqlite3_db_config(connection, option, value, (int *)0);
}

#endif
