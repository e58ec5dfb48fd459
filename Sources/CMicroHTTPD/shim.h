#ifndef CMICROHTTPD_SHIM_H
#define CMICROHTTPD_SHIM_H

#include <microhttpd.h>
#include <pthread.h>
#include <spawn.h>

/// MHD_start_daemon() is variadic, which Swift cannot call. The daemon takes over `listen_socket`.
///
/// One internal thread on epoll, whose handler may suspend a connection.
static inline struct MHD_Daemon *cmhd_start(
    int listen_socket,
    unsigned int idle_timeout_seconds,
    MHD_AccessHandlerCallback handler,
    void *(*request_line)(void *context, const char *uri, struct MHD_Connection *connection),
    MHD_RequestCompletedCallback completed,
    void *context) {
    return MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, handler, context,
        MHD_OPTION_LISTEN_SOCKET, listen_socket,
        MHD_OPTION_CONNECTION_TIMEOUT, idle_timeout_seconds,
        MHD_OPTION_URI_LOG_CALLBACK, request_line, context,
        MHD_OPTION_NOTIFY_COMPLETED, completed, context,
        MHD_OPTION_END);
}

/// A GNU extension, which the Glibc module leaves out (glibc 2.34).
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);

/// A GNU extension too; the name is what `ps -L` shows.
extern int pthread_setname_np(pthread_t thread, const char *name);

#endif
