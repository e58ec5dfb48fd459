#ifndef CSYSTEM_H
#define CSYSTEM_H

#include <spawn.h>
// Swift's Glibc module leaves these out.
#include <sys/epoll.h>
#include <sys/eventfd.h>

// Calls that glibc shows to C with _GNU_SOURCE alone, and so not to Swift. All set errno and return -1 where they fail.

// A socket of a stream, or of datagrams, that no program inherits.
int csystem_socket(int family, int is_datagram);

// Two ends of a local stream that no program inherits.
int csystem_socket_pair(int ends[2]);

// Takes the next connection of a listening socket. No program inherits it.
int csystem_accept(int listener, int waits);

// A descriptor that becomes readable when the calendar is set.
int csystem_clock_alarm(void);

// A file in memory without a name, which no program can execute and no program inherits.
int csystem_memory_file(void);

// Makes a file in memory read-only for everybody, for good.
int csystem_seal(int memory_file);

// Whether orphans of the processes that this one has started become its children.
int csystem_is_subreaper(void);

// Has a program that is started begin without the descriptors from this number on. Returns an error's number, or 0.
int csystem_close_from(posix_spawn_file_actions_t *actions, int number);

// Names the calling thread; Linux keeps 15 bytes.
void csystem_name_thread(const char *name);

#endif
