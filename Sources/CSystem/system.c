#define _GNU_SOURCE

#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

// Missing from headers before glibc 2.38. A kernel may demand the flag (vm.memfd_noexec); kernels before 6.3 reject it.
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

int csystem_socket(int family, int is_datagram) {
    return socket(family, (is_datagram ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC, 0);
}

int csystem_socket_pair(int ends[2]) { return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends); }

int csystem_accept(int listener, int waits) {
    return accept4(listener, NULL, NULL, SOCK_CLOEXEC | (waits ? 0 : SOCK_NONBLOCK));
}

int csystem_clock_alarm(void) {
    // Far in the future: only a change of the clock matters.
    const struct itimerspec time = {.it_value = {.tv_sec = 0x7fffffff}};
    const int descriptor = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    if (descriptor < 0) return -1;
    if (timerfd_settime(descriptor, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &time, NULL) == 0) return descriptor;
    close(descriptor);
    return -1;
}

int csystem_memory_file(void) {
    const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    const int descriptor = memfd_create("kii-push", flags | MFD_NOEXEC_SEAL);
    return descriptor >= 0 || errno != EINVAL ? descriptor : memfd_create("kii-push", flags);
}

int csystem_seal(int memory_file) {
    return fcntl(memory_file, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
}

int csystem_is_subreaper(void) {
    int answer = 0;
    return prctl(PR_GET_CHILD_SUBREAPER, &answer, 0, 0, 0) == 0 && answer != 0;
}

int csystem_close_from(posix_spawn_file_actions_t *actions, int number) {
    return posix_spawn_file_actions_addclosefrom_np(actions, number);
}

void csystem_name_thread(const char *name) {
    // pthread_setname_np(3) refuses longer names.
    char kept[16] = {0};
    strncpy(kept, name, sizeof kept - 1);
    pthread_setname_np(pthread_self(), kept);
}
