#ifndef CSYSTEM_H
#define CSYSTEM_H

#include <spawn.h>
// Swift's Glibc module lacks these headers.
#include <sys/epoll.h>
#include <sys/eventfd.h>

// Functions that glibc declares only with _GNU_SOURCE, and so not for Swift. Unless noted, they return -1 and set errno
// on failure. New descriptors are close-on-exec.

int csystem_socket(int family, int is_datagram);

int csystem_socket_pair(int ends[2]);

// `waits`: whether the accepted socket is blocking.
int csystem_accept(int listener, int waits);

// A descriptor that becomes readable when the system clock is set.
int csystem_clock_alarm(void);

// An unnamed file in memory. From Linux 6.3 on it is not executable.
int csystem_memory_file(void);

// Makes a file in memory read-only for all processes. This cannot be undone.
int csystem_seal(int memory_file);

// Whether orphaned descendants become children of this process, as in prctl(2). 0 on failure.
int csystem_is_subreaper(void);

// Closes all descriptors from `number` on in the child. Returns an error number, or 0.
int csystem_close_from(posix_spawn_file_actions_t *actions, int number);

// Names the calling thread; Linux keeps 15 bytes.
void csystem_name_thread(const char *name);

#endif
