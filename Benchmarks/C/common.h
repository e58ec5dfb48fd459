// The common part of the programs in this folder: a TCP or TLS stream, MQTT 3.1.1 packets, and the clock.
#ifndef BENCH_COMMON_H
#define BENCH_COMMON_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

_Noreturn static inline void die(const char *what) {
    fprintf(stderr, "%s: %s\n", what, errno ? strerror(errno) : "failed");
    exit(1);
}

static inline int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/// User and system time of this process, in seconds.
static inline double cpu_seconds(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_utime.tv_sec + u.ru_stime.tv_sec + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static inline struct sockaddr_in loopback(int port) {
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

/// Listens on a free port of the loopback and prints `port N` as the first line of output.
static inline int listen_and_tell(void) {
    struct sockaddr_in address = loopback(0);
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, length) || listen(fd, 128) ||
        getsockname(fd, (struct sockaddr *)&address, &length))
        die("listen");
    printf("port %d\n", ntohs(address.sin_port));
    fflush(stdout);
    return fd;
}

static inline void no_delay(int fd) {
    int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

static inline int connect_loopback(int port) {
    struct sockaddr_in address = loopback(port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address)) die("connect");
    no_delay(fd);
    return fd;
}

/// A connection; `tls` is NULL without TLS.
struct stream {
    int fd;
    SSL *tls;
};

/// Like read(2): 0 at the end, -1 with EAGAIN if the caller must try again later.
static inline ssize_t stream_read(struct stream *s, void *buffer, size_t size) {
    if (!s->tls) return read(s->fd, buffer, size);
    int n = SSL_read(s->tls, buffer, size > INT32_MAX ? INT32_MAX : (int)size);
    if (n > 0) return n;
    int why = SSL_get_error(s->tls, n);
    if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE) return errno = EAGAIN, -1;
    ERR_clear_error();
    return 0;
}

/// Like send(2): -1 with EAGAIN if the caller must send the same bytes again later.
static inline ssize_t stream_write(struct stream *s, const void *bytes, size_t size) {
    if (!s->tls) return send(s->fd, bytes, size, MSG_NOSIGNAL);
    int n = SSL_write(s->tls, bytes, size > INT32_MAX ? INT32_MAX : (int)size);
    if (n > 0) return n;
    int why = SSL_get_error(s->tls, n);
    if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE) return errno = EAGAIN, -1;
    ERR_clear_error();
    return errno = EPIPE, -1;
}

/// Writes all bytes to a blocking stream.
static inline void stream_write_all(struct stream *s, const uint8_t *bytes, size_t size) {
    while (size) {
        ssize_t n = stream_write(s, bytes, size);
        if (n <= 0) die("write");
        bytes += n, size -= n;
    }
}

/// The length of the first frame, with its fixed header; 0 if `size` bytes are not the whole frame. `*body` is the
/// offset of the variable header (MQTT 3.1.1 section 2.2).
static inline size_t frame_length(const uint8_t *bytes, size_t size, size_t *body) {
    size_t length = 0, i = 1;
    for (int shift = 0;; shift += 7, i++) {
        if (i >= size) return 0;
        if (i > 4) die("remaining length of more than four bytes");
        length |= (size_t)(bytes[i] & 0x7F) << shift;
        if (!(bytes[i] & 0x80)) break;
    }
    *body = i + 1;
    return *body + length <= size ? *body + length : 0;
}

static inline uint8_t *put_length(uint8_t *p, size_t length) {
    do {
        *p++ = (length & 0x7F) | (length > 0x7F ? 0x80 : 0);
    } while (length >>= 7);
    return p;
}

static inline uint8_t *put_16(uint8_t *p, unsigned value) {
    return *p++ = value >> 8, *p++ = value & 0xFF, p;
}

static inline uint8_t *put_text(uint8_t *p, const char *text, size_t length) {
    return memcpy(put_16(p, length), text, length), p + 2 + length;
}

/// Writes PUBLISH (MQTT 3.1.1 section 3.3) and returns the packet's end.
static inline uint8_t *put_publish(
    uint8_t *p, int qos, unsigned id, const char *topic, size_t topic_size, const uint8_t *payload, size_t size) {
    *p++ = 0x30 | qos << 1;
    p = put_length(p, 2 + topic_size + (qos ? 2 : 0) + size);
    p = put_text(p, topic, topic_size);
    if (qos) p = put_16(p, id);
    return memcpy(p, payload, size), p + size;
}

/// Writes CONNECT with a clean session and without keep-alive (MQTT 3.1.1 section 3.1), and returns the packet's end.
static inline uint8_t *put_connect(uint8_t *p, const char *client) {
    *p++ = 0x10;
    p = put_length(p, 10 + 2 + strlen(client));
    p = put_text(p, "MQTT", 4);
    *p++ = 4, *p++ = 2;
    return put_text(put_16(p, 0), client, strlen(client));
}

static inline uint8_t *read_file(const char *path, size_t *size) {
    static uint8_t bytes[65536];
    FILE *file = fopen(path, "rb");
    if (!file) die(path);
    *size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    return bytes;
}

#endif
