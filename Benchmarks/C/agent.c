// The floor of an agent: libcurl initialised, SQLite with one commit a message, and a second thread for the handler.
// The program reads only the time of sending from a message.
//
// agent idle PORT DATABASE            prints `subscribed`, and runs until it is killed
// agent latency PORT DATABASE COUNT   one message at a time: stored, acknowledged, passed to the second thread; prints
//                                     `p50=S p99=S`, from the time in the payload to that thread
#include <curl/curl.h>
#include <pthread.h>
#include <sqlite3.h>

#include "common.h"

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    const uint8_t *packet;
    size_t size, count;
    double *seconds;
} handler = {.lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

static void *handle(void *unused) {
    (void)unused;
    pthread_mutex_lock(&handler.lock);
    for (;;) {
        while (!handler.packet) pthread_cond_wait(&handler.work, &handler.lock);
        const uint8_t *digits = memmem(handler.packet, handler.size, "\"sent\":1", 8);
        if (!digits) die("no \"sent\": in the payload");
        char text[19] = {0};
        memcpy(text, digits + 8, 18);
        handler.seconds[handler.count++] = (double)(now_ns() - atoll(text)) / 1e9;
        handler.packet = NULL;
        pthread_cond_signal(&handler.done);
    }
}

static int ascending(const void *left, const void *right) {
    double difference = *(const double *)left - *(const double *)right;
    return (difference > 0) - (difference < 0);
}

static sqlite3 *database;

static void run(const char *sql) {
    if (sqlite3_exec(database, sql, NULL, NULL, NULL) != SQLITE_OK) die(sqlite3_errmsg(database));
}

int main(int argc, char **argv) {
    int is_latency = argc == 5 && !strcmp(argv[1], "latency");
    if (!is_latency && (argc != 4 || strcmp(argv[1], "idle"))) die("usage: agent idle|latency PORT DATABASE [COUNT]");
    size_t count = is_latency ? strtoull(argv[4], NULL, 10) : 0;
    if (curl_global_init(CURL_GLOBAL_DEFAULT)) die("libcurl");
    if (sqlite3_open(argv[3], &database) != SQLITE_OK) die(argv[3]);
    run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 1000;"
        "CREATE TABLE message (sequence INTEGER PRIMARY KEY, payload BLOB NOT NULL)");
    sqlite3_stmt *begin, *insert, *commit;
    if (sqlite3_prepare_v2(database, "BEGIN IMMEDIATE", -1, &begin, NULL) ||
        sqlite3_prepare_v2(database, "INSERT INTO message (payload) VALUES (?1)", -1, &insert, NULL) ||
        sqlite3_prepare_v2(database, "COMMIT", -1, &commit, NULL))
        die(sqlite3_errmsg(database));
    handler.seconds = calloc(count + 1, sizeof *handler.seconds);
    pthread_t thread;
    if (pthread_create(&thread, NULL, handle, NULL)) die("thread");

    static uint8_t in[524288], out[256];
    size_t in_size = 0;
    struct stream s = {connect_loopback(atoi(argv[2])), NULL};
    uint8_t *end = put_connect(out, "floor");
    *end++ = 0x82, end = put_length(end, 2 + 2 + 20 + 1);
    end = put_text(put_16(end, 1), "bench/0123456789abcd", 20);
    *end++ = 1;
    stream_write_all(&s, out, end - out);
    for (size_t seen = 0; !is_latency || seen < count;) {
        ssize_t n = stream_read(&s, in + in_size, sizeof in - in_size);
        if (n <= 0) return is_latency;
        in_size += n;
        size_t at = 0, body, length;
        for (; (length = frame_length(in + at, in_size - at, &body)); at += length) {
            if (in[at] >> 4 == 9 && !is_latency) printf("subscribed\n"), fflush(stdout);
            if (in[at] >> 4 != 3) continue;
            if (seen == count) die("more messages than were asked for");
            size_t topic = in[at + body] << 8 | in[at + body + 1], first = body + 2 + topic;
            sqlite3_bind_blob(insert, 1, in + at + first + 2, (int)(length - first - 2), SQLITE_STATIC);
            if (sqlite3_step(begin) != SQLITE_DONE || sqlite3_step(insert) != SQLITE_DONE ||
                sqlite3_step(commit) != SQLITE_DONE)
                die(sqlite3_errmsg(database));
            sqlite3_reset(begin), sqlite3_reset(insert), sqlite3_reset(commit);
            stream_write_all(&s, (uint8_t[]){0x40, 2, in[at + first], in[at + first + 1]}, 4);
            pthread_mutex_lock(&handler.lock);
            handler.size = length, handler.packet = in + at;
            pthread_cond_signal(&handler.work);
            // The next read reuses the buffer. A lone message is handled long before the next message arrives.
            while (handler.packet) pthread_cond_wait(&handler.done, &handler.lock);
            pthread_mutex_unlock(&handler.lock);
            seen++;
        }
        memmove(in, in + at, in_size -= at);
    }
    qsort(handler.seconds, count, sizeof *handler.seconds, ascending);
    printf("p50=%.9f p99=%.9f\n", handler.seconds[count / 2], handler.seconds[count * 99 / 100]);
    return 0;
}
