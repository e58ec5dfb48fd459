// An HTTP server that is never the bottleneck: it answers every GET with the same 230 bytes of JSON, on kept
// connections.
// Prints `port N`, and serves until it is killed.
#include <sys/epoll.h>

#include "common.h"

int main(void) {
    char answer[512], body[231];
    memset(body, 'x', 230);
    memcpy(body, "{\"installationID\":\"", 19);
    memcpy(body + 228, "\"}", 3);
    int size = snprintf(answer, sizeof answer,
                        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 230\r\n\r\n%s", body);
    int listener = listen_and_tell(), poller = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {EPOLLIN, {.fd = listener}}, events[64];
    epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event);
    for (;;) {
        int ready = epoll_wait(poller, events, 64, -1);
        for (int i = 0; i < ready; i++) {
            int fd = events[i].data.fd;
            if (fd == listener) {
                event = (struct epoll_event){EPOLLIN, {.fd = accept(listener, NULL, NULL)}};
                if (event.data.fd < 0) continue;
                no_delay(event.data.fd);
                epoll_ctl(poller, EPOLL_CTL_ADD, event.data.fd, &event);
                continue;
            }
            char request[65536];
            ssize_t n = read(fd, request, sizeof request);
            if (n <= 0) {
                close(fd);
                continue;
            }
            // The benchmark's clients send one small request in one piece, and then wait for its answer.
            if (n < 4 || memcmp(request + n - 4, "\r\n\r\n", 4)) die("not a whole request");
            if (send(fd, answer, size, MSG_NOSIGNAL) != size) close(fd);
        }
    }
}
