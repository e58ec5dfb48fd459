// The floor of the emulator's HTTP server: libmicrohttpd with one thread on epoll. It answers every request with the
// same 230 bytes of JSON. With a database, it first commits the request's body, one commit a request.
//
// mhdfloor [DATABASE]
// Prints `port N`, and serves until it is killed.
#include <microhttpd.h>
#include <sqlite3.h>

#include "common.h"

struct body {
    size_t size;
    char bytes[16384];
};

static sqlite3 *database;
static sqlite3_stmt *insert;
static struct MHD_Response *answer;

static enum MHD_Result serve(
    void *context, struct MHD_Connection *connection, const char *url, const char *method, const char *version,
    const char *upload, size_t *upload_size, void **state) {
    (void)context, (void)method, (void)version;
    struct body *body = *state;
    if (!body) return *state = calloc(1, sizeof *body), MHD_YES;
    if (*upload_size) {
        if (*upload_size > sizeof body->bytes - body->size) return MHD_NO;
        memcpy(body->bytes + body->size, upload, *upload_size);
        body->size += *upload_size, *upload_size = 0;
        return MHD_YES;
    }
    if (database) {
        sqlite3_bind_text(insert, 1, url, -1, SQLITE_STATIC);
        sqlite3_bind_blob(insert, 2, body->bytes, body->size, SQLITE_STATIC);
        if (sqlite3_step(insert) != SQLITE_DONE || sqlite3_reset(insert)) die(sqlite3_errmsg(database));
    }
    return MHD_queue_response(connection, 200, answer);
}

static void completed(
    void *context, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode code) {
    (void)context, (void)connection, (void)code;
    free(*state);
}

int main(int argc, char **argv) {
    static char text[231];
    memset(text, 'x', 230);
    memcpy(text, "{\"installationID\":\"", 19);
    memcpy(text + 228, "\"}", 3);
    if (argc > 1) {
        const char *schema = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                             "CREATE TABLE record (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID";
        if (sqlite3_open(argv[1], &database) || sqlite3_exec(database, schema, NULL, NULL, NULL) ||
            sqlite3_prepare_v2(database, "INSERT OR REPLACE INTO record VALUES (?1, ?2)", -1, &insert, NULL))
            die(sqlite3_errmsg(database));
    }
    answer = MHD_create_response_from_buffer(230, text, MHD_RESPMEM_PERSISTENT);
    MHD_add_response_header(answer, "Content-Type", "application/json");
    if (!MHD_start_daemon(
            MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_EPOLL, 0, NULL, NULL, serve, NULL, MHD_OPTION_LISTEN_SOCKET,
            listen_and_tell(), MHD_OPTION_NOTIFY_COMPLETED, completed, NULL, MHD_OPTION_END))
        die("MHD_start_daemon");
    for (;;) pause();
}
