// A broker that is never the bottleneck: it accepts a subscriber and sends prebuilt PUBLISH packets as fast as the
// subscriber reads. So a run measures the receiver alone.
//
// blast PAYLOAD-FILE COUNT [-q QOS] [-k CERTIFICATE KEY] [-w] [-p MICROSECONDS] [-s CONNECTIONS]
//   -q  0 (default) or 1: at most 16,384 unacknowledged messages; counts every PUBACK
//   -k  uses TLS
//   -w  uses WebSocket (RFC 6455), each packet in a frame of its own, as brokers do
//   -p  waits this long between two messages, and writes the time into 19 digits after `"sent":` of the payload
//   -s  first serves this many connections without messages
// Prints `port N`; at the end `messages=N acknowledged=N seconds=S`, from the first PUBLISH to the last PUBACK or, at
// QoS 0, to the receiver's end of the connection.
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <poll.h>

#include "common.h"

enum { window = 16384, identifiers = 2 * window, chunk = 262144 };

static struct {
    uint8_t *bytes;
    size_t packet, packets, payload;
} prebuilt;

static int is_websocket;

/// Writes the header of a frame for `size` bytes of payload. Returns the header's end.
static uint8_t *put_frame(uint8_t *out, size_t size) {
    if (!is_websocket) return out;
    if (size > 65535) die("too much for a frame");
    *out++ = 0x82;
    if (size > 125) *out++ = 126, *out++ = size >> 8;
    *out++ = size;
    return out;
}

/// Consecutive packets. At QoS 1 the identifiers are 1, 2, …; none is reused in flight.
static void prebuild(int qos, const char *topic, size_t topic_size, const uint8_t *payload, size_t size) {
    prebuilt.packets = qos ? identifiers : 1024;
    free(prebuilt.bytes);
    prebuilt.bytes = malloc(prebuilt.packets * (size + topic_size + 20));
    uint8_t *end = prebuilt.bytes, *packet = malloc(size + topic_size + 16);
    for (size_t i = 0; i < prebuilt.packets; i++) {
        size_t length = put_publish(packet, qos, i + 1, topic, topic_size, payload, size) - packet;
        end = put_frame(end, length);
        memcpy(end, packet, length);
        end += length;
    }
    free(packet);
    prebuilt.packet = (end - prebuilt.bytes) / prebuilt.packets;
    prebuilt.payload = size;
}

struct run {
    struct stream stream;
    int qos, subscribed;
    const uint8_t *payload;
    size_t payload_size;
    uint64_t count, acknowledged;
    uint8_t in[65536], out[65536];
    size_t in_size, out_size;
    // The incoming frame.
    uint8_t header[14], mask[4];
    size_t header_size, left, phase;
};

/// Removes the frames from the received bytes: unmasks and joins the payloads. Returns the size of the payloads.
static size_t unframe(struct run *r, uint8_t *bytes, size_t size) {
    size_t kept = 0;
    for (size_t i = 0; i < size;) {
        if (!r->left) {
            r->header[r->header_size++] = bytes[i++];
            if (r->header_size < 2) continue;
            size_t length = r->header[1] & 127, wanted = 6 + (length == 126 ? 2 : length == 127 ? 8 : 0);
            if (r->header_size < wanted) continue;
            if (length > 125) {
                length = 0;
                for (size_t k = 2; k < wanted - 4; k++) length = length << 8 | r->header[k];
            }
            memcpy(r->mask, r->header + wanted - 4, 4);
            r->left = length, r->phase = 0, r->header_size = 0;
            continue;
        }
        size_t n = r->left < size - i ? r->left : size - i;
        for (size_t k = 0; k < n; k++) {
            uint8_t byte = bytes[i + k] ^ r->mask[r->phase++ & 3];
            if (r->header[0] == 0x82) bytes[kept++] = byte;
        }
        i += n, r->left -= n;
    }
    return kept;
}

/// Accepts the WebSocket.
static void upgrade(struct run *r) {
    char request[8192] = "", accept[32], answer[256];
    size_t size = 0;
    while (!strstr(request, "\r\n\r\n")) {
        ssize_t n = stream_read(&r->stream, (uint8_t *)request + size, sizeof request - 1 - size);
        if (n <= 0) die("no request for a WebSocket");
        request[size += n] = 0;
    }
    char *key = strstr(request, "Sec-WebSocket-Key: ");
    if (!key) die("no key");
    char text[80];
    uint8_t digest[SHA_DIGEST_LENGTH];
    int length = snprintf(text, sizeof text, "%.24s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key + 19);
    SHA1((uint8_t *)text, length, digest);
    EVP_EncodeBlock((uint8_t *)accept, digest, sizeof digest);
    length = snprintf(answer, sizeof answer,
                      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                      "Sec-WebSocket-Accept: %s\r\nSec-WebSocket-Protocol: mqtt\r\n\r\n", accept);
    if (stream_write(&r->stream, (uint8_t *)answer, length) != length) die("no answer");
}

/// Reads the subscriber's packets. Returns 0 at the end of the connection.
static int listen_to(struct run *r) {
    for (;;) {
        ssize_t n = stream_read(&r->stream, r->in + r->in_size, sizeof r->in - r->in_size);
        if (n < 0 && errno == EAGAIN) return 1;
        if (n <= 0) return 0;
        r->in_size += is_websocket ? unframe(r, r->in + r->in_size, n) : (size_t)n;
        size_t at = 0, body, length;
        while ((length = frame_length(r->in + at, r->in_size - at, &body))) {
            const uint8_t *packet = r->in + at;
            uint8_t *out = r->out + r->out_size;
            if (r->out_size + 16 > sizeof r->out) die("too much to answer");
            switch (packet[0] >> 4) {
            case 1: out = put_frame(out, 4), memcpy(out, (uint8_t[]){0x20, 2, 0, 0}, 4), r->out_size = out + 4 - r->out; break;
            case 4: r->acknowledged++; break;
            case 8: { // SUBSCRIBE with one filter, granted at the run's QoS
                size_t topic = packet[body + 2] << 8 | packet[body + 3];
                prebuild(r->qos, (const char *)packet + body + 4, topic, r->payload, r->payload_size);
                out = put_frame(out, 5);
                memcpy(out, (uint8_t[]){0x90, 3, packet[body], packet[body + 1], r->qos}, 5);
                r->out_size = out + 5 - r->out;
                r->subscribed = 1;
                break;
            }
            case 12: out = put_frame(out, 2), memcpy(out, (uint8_t[]){0xD0, 0}, 2), r->out_size = out + 2 - r->out; break;
            case 14: return 0;
            default: die("unexpected packet");
            }
            at += length;
        }
        memmove(r->in, r->in + at, r->in_size -= at);
    }
}

/// Writes the current time into packet `index`.
static void stamp(size_t index) {
    uint8_t *payload = prebuilt.bytes + (index % prebuilt.packets + 1) * prebuilt.packet - prebuilt.payload;
    uint8_t *digits = memmem(payload, prebuilt.payload, "\"sent\":", 7);
    if (!digits) die("no \"sent\": in the payload");
    char text[24];
    snprintf(text, sizeof text, "1%018lld", (long long)now_ns());
    memcpy(digits + 7, text, 19);
}

static int serve(struct run *r, int64_t pause, int silent) {
    uint64_t sent = 0; // in bytes
    size_t promised = 0;
    int64_t started = 0, next = 0;
    fcntl(r->stream.fd, F_SETFL, O_NONBLOCK);
    while (listen_to(r)) {
        int blocked = 0;
        uint64_t total = 0;
        if (r->subscribed && !silent) {
            total = r->count * prebuilt.packet;
            if (!started) started = next = now_ns();
            if (sent == total && r->qos && r->acknowledged == r->count) break;
        }
        uint64_t allowed = total;
        if (r->qos && allowed > (r->acknowledged + window) * prebuilt.packet)
            allowed = (r->acknowledged + window) * prebuilt.packet;
        size_t within = prebuilt.packet ? sent % prebuilt.packet : 0;
        if (r->out_size && within) {
            if (allowed > sent + prebuilt.packet - within) allowed = sent + prebuilt.packet - within;
        } else if (r->out_size && !promised) {
            ssize_t n = stream_write(&r->stream, r->out, r->out_size);
            if (n > 0) memmove(r->out, r->out + n, r->out_size -= n);
            blocked = n < 0;
        }
        if (pause && sent < allowed && !within) {
            int64_t wait = next - now_ns();
            if (wait > 0) {
                struct pollfd p = {r->stream.fd, POLLIN, 0};
                ppoll(&p, 1, &(struct timespec){wait / 1000000000, wait % 1000000000}, NULL);
                continue;
            }
            next += pause;
            stamp(sent / prebuilt.packet);
            allowed = sent + prebuilt.packet;
        }
        if (!blocked && sent < allowed) {
            size_t row = prebuilt.packets * prebuilt.packet, offset = sent % row, size = allowed - sent;
            if (size > row - offset) size = row - offset;
            if (size > chunk) size = chunk;
            if (promised) size = promised; // OpenSSL requires the same length for a repeated write
            ssize_t n = stream_write(&r->stream, prebuilt.bytes + offset, size);
            if (n < 0 && errno != EAGAIN) return 0;
            promised = n < 0 && r->stream.tls ? size : 0;
            if (n > 0) sent += n;
            blocked = n < 0;
        }
        if (blocked || (sent == allowed && !r->out_size)) {
            struct pollfd p = {r->stream.fd, blocked ? POLLIN | POLLOUT : POLLIN, 0};
            if (poll(&p, 1, 60000) == 0) die("no progress in a minute");
        }
    }
    if (silent || !started) return 0;
    printf("messages=%llu acknowledged=%llu began=%.6f seconds=%.6f\n", (unsigned long long)(sent / prebuilt.packet),
           (unsigned long long)r->acknowledged, started / 1e9, (now_ns() - started) / 1e9);
    return 1;
}

int main(int argc, char **argv) {
    if (argc < 3) die("usage: blast PAYLOAD-FILE COUNT [-q QOS] [-k CERTIFICATE KEY] [-w] [-p MICROSECONDS] [-s N]");
    static struct run r;
    int64_t pause = 0;
    int silent = 0;
    SSL_CTX *tls = NULL;
    r.payload = read_file(argv[1], &r.payload_size);
    r.count = strtoull(argv[2], NULL, 10);
    for (int i = 3; i < argc; i++) {
        if (!strcmp(argv[i], "-q") && i + 1 < argc) r.qos = atoi(argv[++i]);
        else if (!strcmp(argv[i], "-p") && i + 1 < argc) pause = atoll(argv[++i]) * 1000;
        else if (!strcmp(argv[i], "-s") && i + 1 < argc) silent = atoi(argv[++i]);
        else if (!strcmp(argv[i], "-w")) is_websocket = 1;
        else if (!strcmp(argv[i], "-k") && i + 2 < argc) {
            tls = SSL_CTX_new(TLS_server_method());
            if (SSL_CTX_use_certificate_chain_file(tls, argv[i + 1]) != 1 ||
                SSL_CTX_use_PrivateKey_file(tls, argv[i + 2], SSL_FILETYPE_PEM) != 1)
                die("certificate or key");
            SSL_CTX_set_mode(tls, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
            i += 2;
        } else die(argv[i]);
    }
    signal(SIGPIPE, SIG_IGN);
    int listener = listen_and_tell(), done = 0;
    while (!done) {
        r.stream.fd = accept(listener, NULL, NULL);
        if (r.stream.fd < 0) die("accept");
        no_delay(r.stream.fd);
        if (tls) {
            r.stream.tls = SSL_new(tls);
            SSL_set_fd(r.stream.tls, r.stream.fd);
            if (SSL_accept(r.stream.tls) != 1) die("TLS handshake");
        }
        r.in_size = r.out_size = 0, r.subscribed = 0, r.acknowledged = 0, r.header_size = r.left = 0;
        if (is_websocket) upgrade(&r);
        done = serve(&r, pause, silent > 0);
        silent -= silent > 0;
        if (r.stream.tls) SSL_free(r.stream.tls);
        close(r.stream.fd);
    }
    return 0;
}
