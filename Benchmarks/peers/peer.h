// The common part of the C peers: their arguments, and the work on a message, during which they are killed.
//
// usage: PROGRAM HOST PORT CLIENTID TOPIC USER LOGFILE, with the password in MQTT_PASSWORD and the length of the work
// in WORK_MIN_US and WORK_MAX_US. The work on a message {"n":N,...} is that of Tests/CountingAgent: a line before and a
// line after, both written through to the disk.
#ifndef PEER_H
#define PEER_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct peer {
    const char *host;
    int port;
    const char *client_id;
    const char *topic;
    const char *user;
    const char *password;
    const char *log_path;
    int log;
    long shortest;
    long longest;
};

static inline long peer_variable(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text == NULL ? otherwise : strtol(text, NULL, 10);
}

static inline struct peer peer_open(int count, char **arguments) {
    struct peer peer = {0};
    peer.password = getenv("MQTT_PASSWORD");
    if (count != 7 || peer.password == NULL) {
        fprintf(stderr, "usage: %s HOST PORT CLIENTID TOPIC USER LOGFILE, with MQTT_PASSWORD\n", arguments[0]);
        exit(64);
    }
    peer.host = arguments[1];
    peer.port = atoi(arguments[2]);
    peer.client_id = arguments[3];
    peer.topic = arguments[4];
    peer.user = arguments[5];
    peer.log_path = arguments[6];
    peer.log = open(peer.log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (peer.log < 0) {
        perror(peer.log_path);
        exit(73);
    }
    peer.shortest = peer_variable("WORK_MIN_US", 500);
    peer.longest = peer_variable("WORK_MAX_US", 3000);
    srandom((unsigned)getpid());
    return peer;
}

static inline void peer_write(const struct peer *peer, const char *verb, long number) {
    char line[64];
    int length = snprintf(line, sizeof line, "%s %ld 0\n", verb, number);
    if (write(peer->log, line, (size_t)length) != length || fdatasync(peer->log) != 0) exit(74);
}

// The number of a message, or -1.
static inline long peer_number(const char *payload, size_t length) {
    static const char key[] = "\"n\":";
    const char *found = memmem(payload, length, key, sizeof key - 1);
    if (found == NULL) return -1;
    char digits[24] = {0};
    size_t left = length - (size_t)(found - payload) - (sizeof key - 1);
    memcpy(digits, found + sizeof key - 1, left < sizeof digits - 1 ? left : sizeof digits - 1);
    return strtol(digits, NULL, 10);
}

static inline void peer_sleep(long microseconds) {
    struct timespec time = {.tv_sec = microseconds / 1000000, .tv_nsec = microseconds % 1000000 * 1000};
    nanosleep(&time, NULL);
}

static inline void peer_handle(const struct peer *peer, const char *payload, size_t length) {
    long number = peer_number(payload, length);
    peer_write(peer, "began", number);
    peer_sleep(peer->shortest + random() % (peer->longest - peer->shortest + 1));
    peer_write(peer, "ended", number);
}

#endif
