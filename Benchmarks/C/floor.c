// The floor of a receiver: subscribes, reads, finds the packets, acknowledges. It neither decodes nor keeps anything.
//
// floor PORT COUNT [-q QOS] [-k CA-FILE]
#include "common.h"

int main(int argc, char **argv) {
    if (argc < 3) die("usage: floor PORT COUNT [-q QOS] [-k CA-FILE]");
    uint64_t count = strtoull(argv[2], NULL, 10), seen = 0;
    struct stream s = {connect_loopback(atoi(argv[1])), NULL};
    int qos = 0;
    signal(SIGPIPE, SIG_IGN);
    for (int i = 3; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "-q")) qos = atoi(argv[i + 1]);
        if (!strcmp(argv[i], "-k")) {
            SSL_CTX *context = SSL_CTX_new(TLS_client_method());
            SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
            SSL_CTX_set_read_ahead(context, 1);
            if (SSL_CTX_load_verify_locations(context, argv[i + 1], NULL) != 1) die(argv[i + 1]);
            s.tls = SSL_new(context);
            SSL_set_fd(s.tls, s.fd);
            if (SSL_connect(s.tls) != 1) die("TLS handshake");
        }
    }
    static uint8_t in[524288], out[65536];
    size_t in_size = 0;
    uint8_t *end = put_connect(out, "floor");
    stream_write_all(&s, out, end - out);
    end = out;
    *end++ = 0x82, end = put_length(end, 2 + 2 + 20 + 1);
    end = put_text(put_16(end, 1), "bench/0123456789abcd", 20);
    *end++ = qos;
    stream_write_all(&s, out, end - out);
    while (seen < count) {
        ssize_t n = stream_read(&s, in + in_size, sizeof in - in_size);
        if (n <= 0) die("the connection ended early");
        in_size += n;
        size_t at = 0, body, length;
        end = out;
        while ((length = frame_length(in + at, in_size - at, &body))) {
            if (in[at] >> 4 == 3) {
                seen++;
                if (qos) {
                    size_t topic = in[at + body] << 8 | in[at + body + 1];
                    *end++ = 0x40, *end++ = 2, *end++ = in[at + body + 2 + topic], *end++ = in[at + body + 3 + topic];
                    if (end - out > (long)sizeof out - 4) stream_write_all(&s, out, end - out), end = out;
                }
            }
            at += length;
        }
        memmove(in, in + at, in_size -= at);
        if (end != out) stream_write_all(&s, out, end - out);
    }
    return 0;
}
