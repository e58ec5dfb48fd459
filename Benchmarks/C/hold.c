// A broker for many mostly silent connections. It answers CONNECT, SUBSCRIBE and PINGREQ by itself, and sends messages
// on command.
//
// hold PAYLOAD-FILE [-k CERTIFICATE KEY]
//   PAYLOAD-FILE has one payload in each line; the messages use them in turn
//   -k  uses TLS
// Prints `port N`. Then it executes one command from each line of its input, and prints the result:
//   wait N                          until N subscriptions: `subscribed=N seconds=S`, S from the first connection
//   send N all|one [MICROSECONDS]   N messages of QoS 1, to the connections in turn or all to the first, with a pause
//                                   between two: `messages=N seconds=S pings=N`, S to the last PUBACK, all pings so far
// Ends with its input. CONNACK reports an existing session unless the client asks for a clean one.
#include <sys/epoll.h>

#include "common.h"

enum { window = 1024, most = 32768, burst = 256, largest = 1 << 19 };

struct connection {
    struct stream stream;
    char topic[64];
    size_t topic_size, kept_size;
    uint8_t kept[256]; // the beginning of an incomplete packet
    uint8_t *rest;     // bytes that the kernel did not accept
    size_t rest_size;
    unsigned sent, acknowledged;
};

static struct connection *subscribed[most];
static int count, poller;
static uint64_t acknowledged, pings;
static int64_t first_connection, last_subscription;

static struct { char *bytes; size_t size; } payloads[4096];
static size_t payload_count;

static struct {
    enum { none, waiting, sending } kind;
    uint64_t goal, sent, acknowledged;
    int to_all;
    int64_t pause, next, started;
} command;

static void watch(struct connection *c, int operation) {
    struct epoll_event event = {.events = EPOLLIN | (c->rest ? EPOLLOUT : 0), .data.ptr = c};
    if (epoll_ctl(poller, operation, c->stream.fd, &event)) die("epoll_ctl");
}

/// Writes as many bytes as the kernel accepts now, and keeps the rest.
static void send_bytes(struct connection *c, const uint8_t *bytes, size_t size) {
    ssize_t n = c->rest ? 0 : stream_write(&c->stream, bytes, size);
    if (n < 0) n = 0; // the next read notices the broken connection
    if ((size_t)n == size) return;
    int is_new = !c->rest;
    c->rest = realloc(c->rest, c->rest_size + size - n);
    memcpy(c->rest + c->rest_size, bytes + n, size - n);
    c->rest_size += size - n;
    if (is_new) watch(c, EPOLL_CTL_MOD);
}

static void send_rest(struct connection *c) {
    uint8_t *rest = c->rest;
    size_t size = c->rest_size;
    c->rest = NULL, c->rest_size = 0;
    send_bytes(c, rest, size);
    if (!c->rest) watch(c, EPOLL_CTL_MOD);
    free(rest);
}

static void take(struct connection *c, const uint8_t *packet, size_t body) {
    switch (packet[0] >> 4) {
    case 1: send_bytes(c, (uint8_t[]){0x20, 2, !(packet[body + 7] & 2), 0}, 4); break;
    case 4: c->acknowledged++, acknowledged++; break;
    case 8: { // SUBSCRIBE with one filter, granted at QoS 1
        c->topic_size = packet[body + 2] << 8 | packet[body + 3];
        if (c->topic_size > sizeof c->topic) die("topic too long");
        memcpy(c->topic, packet + body + 4, c->topic_size);
        send_bytes(c, (uint8_t[]){0x90, 3, packet[body], packet[body + 1], 1}, 5);
        if (count == most) die("too many connections");
        subscribed[count++] = c, last_subscription = now_ns();
        break;
    }
    case 12: send_bytes(c, (uint8_t[]){0xD0, 0}, 2), pings++; break;
    case 14: break; // DISCONNECT: the client closes the connection next
    default: die("unexpected packet");
    }
}

/// Reads the available bytes. Returns 0 at the end of the connection.
static int listen_to(struct connection *c) {
    static uint8_t in[65536];
    for (;;) {
        memcpy(in, c->kept, c->kept_size);
        ssize_t n = stream_read(&c->stream, in + c->kept_size, sizeof in - c->kept_size);
        if (n < 0 && errno == EAGAIN) return 1;
        if (n <= 0) return 0;
        size_t size = c->kept_size + n, at = 0, body, length;
        for (; (length = frame_length(in + at, size - at, &body)); at += length) take(c, in + at, body);
        c->kept_size = size - at;
        if (c->kept_size > sizeof c->kept) die("packet too long");
        memcpy(c->kept, in + at, c->kept_size);
    }
}

/// Sends one more message on a connection. Returns 0 if the connection has as many unacknowledged messages as allowed.
static int send_message(struct connection *c, uint64_t number) {
    static uint8_t packet[largest + 128];
    if (c->rest || c->sent - c->acknowledged >= window) return 0;
    size_t line = number % payload_count;
    uint8_t *end = put_publish(packet, 1, c->sent++ % 65535 + 1, c->topic, c->topic_size,
                               (uint8_t *)payloads[line].bytes, payloads[line].size);
    send_bytes(c, packet, end - packet);
    return 1;
}

/// Sends the due messages, at most a burst. Returns the milliseconds until the next work.
static int advance(void) {
    if (command.kind == waiting && (uint64_t)count >= command.goal) {
        printf("subscribed=%d seconds=%.6f\n", count, (last_subscription - first_connection) / 1e9);
        fflush(stdout), command.kind = none;
    }
    if (command.kind != sending) return -1;
    static unsigned turn;
    uint64_t before = command.sent;
    for (int tries = 0; tries < burst && command.sent < command.goal; tries++) {
        if (command.pause && now_ns() < command.next) break;
        struct connection *c = subscribed[command.to_all ? turn++ % count : 0];
        if (!send_message(c, command.sent)) continue;
        command.sent++, command.next += command.pause;
    }
    if (acknowledged - command.acknowledged == command.goal) {
        printf("messages=%llu seconds=%.6f pings=%llu\n", (unsigned long long)command.goal,
               (now_ns() - command.started) / 1e9, (unsigned long long)pings);
        fflush(stdout), command.kind = none;
    }
    if (command.kind != sending || command.sent == command.goal) return -1;
    return command.sent == before;
}

static void obey(char *line) {
    char to[8] = "";
    unsigned long long goal = 0, pause = 0;
    if (sscanf(line, "wait %llu", &goal) == 1) command.kind = waiting;
    else if (sscanf(line, "send %llu %7s %llu", &goal, to, &pause) >= 2 && count) command.kind = sending;
    else die("no such command");
    command.goal = goal, command.sent = 0, command.acknowledged = acknowledged, command.to_all = !strcmp(to, "all");
    command.pause = pause * 1000, command.next = command.started = now_ns();
}

static SSL_CTX *server_context(const char *certificate, const char *key) {
    SSL_CTX *tls = SSL_CTX_new(TLS_server_method());
    if (SSL_CTX_use_certificate_chain_file(tls, certificate) != 1 ||
        SSL_CTX_use_PrivateKey_file(tls, key, SSL_FILETYPE_PEM) != 1)
        die("certificate or key");
    SSL_CTX_set_mode(tls, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    return tls;
}

static void add(int fd, SSL_CTX *tls) {
    struct connection *c = calloc(1, sizeof *c);
    c->stream.fd = fd;
    no_delay(fd);
    if (tls) {
        c->stream.tls = SSL_new(tls);
        SSL_set_fd(c->stream.tls, fd);
        if (SSL_accept(c->stream.tls) != 1) die("TLS handshake");
    }
    fcntl(fd, F_SETFL, O_NONBLOCK);
    if (!first_connection) first_connection = now_ns();
    watch(c, EPOLL_CTL_ADD);
}

/// Removes a connection and its subscription.
static void end(struct connection *c) {
    for (int i = 0; i < count; i++)
        if (subscribed[i] == c) subscribed[i] = subscribed[--count];
    if (!count) first_connection = 0;
    if (c->stream.tls) SSL_free(c->stream.tls);
    close(c->stream.fd), free(c->rest), free(c);
}

int main(int argc, char **argv) {
    if (argc != 2 && argc != 5) die("usage: hold PAYLOAD-FILE [-k CERTIFICATE KEY]");
    SSL_CTX *tls = argc == 5 ? server_context(argv[3], argv[4]) : NULL;
    FILE *file = fopen(argv[1], "r");
    if (!file) die(argv[1]);
    for (size_t room = 0; payload_count < 4096; payload_count++) {
        ssize_t n = getline(&payloads[payload_count].bytes, &room, file);
        if (n < 0) break;
        if (payloads[payload_count].bytes[n - 1] == '\n') n--;
        if (n > largest) die("payload too long");
        payloads[payload_count].size = n, room = 0;
    }
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max, setrlimit(RLIMIT_NOFILE, &limit);
    signal(SIGPIPE, SIG_IGN);
    int listener = listen_and_tell();
    listen(listener, 4096), fcntl(listener, F_SETFL, O_NONBLOCK);
    poller = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event events[512] = {{.events = EPOLLIN, .data.ptr = &listener}, {.events = EPOLLIN}};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, listener, events) || epoll_ctl(poller, EPOLL_CTL_ADD, 0, events + 1))
        die("epoll_ctl");
    for (;;) {
        int ready = epoll_wait(poller, events, 512, advance());
        for (int i = 0; i < ready; i++) {
            struct connection *c = events[i].data.ptr;
            if (!c) {
                char line[128];
                if (!fgets(line, sizeof line, stdin)) return 0;
                obey(line);
            } else if (events[i].data.ptr == &listener) {
                for (int fd; (fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0;) add(fd, tls);
            } else {
                if (events[i].events & EPOLLOUT && c->rest) send_rest(c);
                if (!listen_to(c)) end(c);
            }
        }
    }
}
