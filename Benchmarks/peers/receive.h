// The common part of the C receivers: their arguments. Each subscribes, counts COUNT messages in its callback, and
// exits. The broker may close the connection after the last PUBACK, so a lost connection is no failure then.
//
// usage: PROGRAM HOST PORT TOPIC COUNT QOS [CA-FILE]
#ifndef RECEIVE_H
#define RECEIVE_H

#include <stdio.h>
#include <stdlib.h>

struct receiver {
    const char *host;
    int port;
    const char *topic;
    long count;
    int qos;
    const char *authority; // NULL without TLS
    long seen;
};

static inline struct receiver receiver_open(int count, char **arguments) {
    if (count != 6 && count != 7) {
        fprintf(stderr, "usage: %s HOST PORT TOPIC COUNT QOS [CA-FILE]\n", arguments[0]);
        exit(64);
    }
    return (struct receiver){
        .host = arguments[1],
        .port = atoi(arguments[2]),
        .topic = arguments[3],
        .count = atol(arguments[4]),
        .qos = atoi(arguments[5]),
        .authority = count == 7 ? arguments[6] : NULL,
    };
}

#endif
