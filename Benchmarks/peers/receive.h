// What the C receivers share: their arguments. Each subscribes, counts COUNT messages in its callback, and leaves. A
// connection that is lost once all have come is no failure: whoever has the last PUBACK may close it first.
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
