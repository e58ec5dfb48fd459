// An HTTP client that is never the bottleneck: it repeats one request on kept connections, each with one request at a
// time. Eight zeros in the request stand for its number.
//
// load PORT REQUEST-FILE COUNT CONNECTIONS
// Prints `requests=N seconds=S cpu=S`; fails at the first answer that is no success.
#include <sys/epoll.h>

#include "common.h"

enum { most = 256, number_size = 8 };

struct connection {
    int fd;
    size_t have;
    char answer[16384];
};

static const uint8_t *request;
static size_t request_size;
static long numbered_at = -1;

static void ask(struct connection *c, int number) {
    char bytes[65536], digits[number_size + 1];
    memcpy(bytes, request, request_size);
    snprintf(digits, sizeof digits, "%08d", number);
    if (numbered_at >= 0) memcpy(bytes + numbered_at, digits, number_size);
    if (send(c->fd, bytes, request_size, MSG_NOSIGNAL) != (ssize_t)request_size) die("send");
}

/// Whether the `have` bytes are the whole answer.
static int is_whole(struct connection *c) {
    c->answer[c->have] = 0;
    const char *end = strstr(c->answer, "\r\n\r\n"), *length = strcasestr(c->answer, "\r\nContent-Length:");
    if (!end) return 0;
    if (c->have < 12 || c->answer[9] != '2') die(c->answer);
    size_t body = length && length < end ? strtoul(length + 17, NULL, 10) : 0;
    return c->have >= (size_t)(end + 4 - c->answer) + body;
}

int main(int argc, char **argv) {
    if (argc != 5) die("usage: load PORT REQUEST-FILE COUNT CONNECTIONS");
    static struct connection connections[most];
    int count = atoi(argv[3]), concurrent = atoi(argv[4]), sent = 0, done = 0, poller = epoll_create1(EPOLL_CLOEXEC);
    if (concurrent < 1 || concurrent > most || concurrent > count) die("CONNECTIONS");
    request = read_file(argv[2], &request_size);
    const char *zeros = memmem(request, request_size, "00000000", number_size);
    if (zeros) numbered_at = zeros - (const char *)request;
    for (int i = 0; i < concurrent; i++) {
        connections[i].fd = connect_loopback(atoi(argv[1]));
        struct epoll_event event = {EPOLLIN, {.ptr = &connections[i]}};
        epoll_ctl(poller, EPOLL_CTL_ADD, connections[i].fd, &event);
    }
    double cpu = cpu_seconds();
    int64_t begin = now_ns();
    for (int i = 0; i < concurrent; i++) ask(&connections[i], sent++);
    while (done < count) {
        struct epoll_event events[most];
        int ready = epoll_wait(poller, events, most, -1);
        for (int i = 0; i < ready; i++) {
            struct connection *c = events[i].data.ptr;
            ssize_t n = read(c->fd, c->answer + c->have, sizeof c->answer - 1 - c->have);
            if (n <= 0) die("the server hung up");
            c->have += n;
            if (!is_whole(c)) continue;
            c->have = 0, done++;
            if (sent < count) ask(c, sent++);
        }
    }
    printf("requests=%d seconds=%.6f cpu=%.6f\n", done, (now_ns() - begin) / 1e9, cpu_seconds() - cpu);
}
