// A publisher that is never the bottleneck, for runs through a real broker.
//
// flood PORT TOPIC PAYLOAD-FILE COUNT QOS
// Prints `messages=N seconds=S cpu=S`, from the login until all messages are sent or, at QoS 1, acknowledged.
#include <poll.h>

#include "common.h"

enum { window = 10000 };

int main(int argc, char **argv) {
    if (argc != 6) die("usage: flood PORT TOPIC PAYLOAD-FILE COUNT QOS");
    size_t size, in_size = 0, body, length;
    uint8_t *payload = read_file(argv[3], &size);
    uint64_t count = strtoull(argv[4], NULL, 10), sent = 0, acknowledged = 0;
    int qos = atoi(argv[5]);
    struct stream s = {connect_loopback(atoi(argv[1])), NULL};
    static uint8_t in[65536], out[262144];
    uint8_t *end = put_connect(out, "flood");
    stream_write_all(&s, out, end - out);
    if (read(s.fd, in, 4) != 4 || in[3] != 0) die("refused");
    double cpu = cpu_seconds();
    int64_t begin = now_ns();
    while (sent < count || (qos && acknowledged < count)) {
        end = out;
        while (sent < count && end - out < (long)(sizeof out - size - 256) && (!qos || sent - acknowledged < window))
            end = put_publish(end, qos, sent++ % 60000 + 1, argv[2], strlen(argv[2]), payload, size);
        stream_write_all(&s, out, end - out);
        struct pollfd p = {s.fd, POLLIN, 0};
        int full = qos && (sent == count || sent - acknowledged >= window);
        while (poll(&p, 1, full ? -1 : 0) == 1) {
            ssize_t n = read(s.fd, in + in_size, sizeof in - in_size);
            if (n <= 0) die("the broker hung up");
            in_size += n;
            size_t at = 0;
            while ((length = frame_length(in + at, in_size - at, &body))) acknowledged++, at += length;
            memmove(in, in + at, in_size -= at);
            full = 0;
        }
    }
    printf("messages=%lu seconds=%.6f cpu=%.6f\n", count, (now_ns() - begin) / 1e9, cpu_seconds() - cpu);
    stream_write_all(&s, (uint8_t[]){0xE0, 0}, 2);
    // A close with unread bytes would reset the connection and lose the bytes in flight.
    shutdown(s.fd, SHUT_WR);
    while (read(s.fd, in, sizeof in) > 0) {}
    return 0;
}
