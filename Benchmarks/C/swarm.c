// The floor of many connections: one thread with one epoll descriptor connects and subscribes N times, and does no
// more.
//
// swarm PORT N
// Prints `seconds=S cpu=S` after the last SUBACK.
#include <sys/epoll.h>

#include "common.h"

int main(int argc, char **argv) {
    if (argc != 3) die("usage: swarm PORT N");
    struct sockaddr_in address = loopback(atoi(argv[1]));
    int count = atoi(argv[2]), left = count, poller = epoll_create1(EPOLL_CLOEXEC);
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max, setrlimit(RLIMIT_NOFILE, &limit);
    int64_t start = now_ns();
    for (int i = 0; i < count; i++) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (fd < 0 || (connect(fd, (struct sockaddr *)&address, sizeof address) && errno != EINPROGRESS)) die("connect");
        no_delay(fd);
        struct epoll_event event = {.events = EPOLLOUT, .data.fd = fd};
        if (epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event)) die("epoll_ctl");
    }
    while (left) {
        struct epoll_event events[512];
        int ready = epoll_wait(poller, events, 512, -1);
        for (int i = 0; i < ready; i++) {
            uint8_t bytes[256], *end = bytes;
            int fd = events[i].data.fd;
            if (events[i].events & EPOLLOUT) {
                char name[32];
                snprintf(name, sizeof name, "bench/%d", fd);
                end = put_connect(end, name);
                struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
                epoll_ctl(poller, EPOLL_CTL_MOD, fd, &event);
            } else {
                ssize_t n = read(fd, bytes, sizeof bytes);
                if (n <= 0) die("read");
                if (bytes[0] == 0x90 && !--left) break;
                if (bytes[0] != 0x20) continue;
                *end++ = 0x82, *end++ = 2 + 2 + 12 + 1;
                end = put_16(end, 1);
                char name[32];
                snprintf(name, sizeof name, "bench/%06d", fd);
                end = put_text(end, name, 12), *end++ = 1;
            }
            if (end > bytes && write(fd, bytes, end - bytes) != end - bytes) die("write");
        }
    }
    printf("seconds=%.6f cpu=%.6f\n", (now_ns() - start) / 1e9, cpu_seconds());
    return 0;
}
