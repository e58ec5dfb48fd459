#ifndef CMICROHTTPD_SHIM_H
#define CMICROHTTPD_SHIM_H

#include <microhttpd.h>
#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>

/// Whether the library was built with GnuTLS. In C, since the enumeration has two names for the feature.
static inline bool cmhd_has_tls(void) { return MHD_is_feature_supported(MHD_FEATURE_TLS) == MHD_YES; }

/// MHD_AccessHandlerCallback, with a `sending` connection that a Swift handler may keep beyond the call. Any thread may
/// resume the suspended connection: libmicrohttpd guards that with its own locks.
typedef enum MHD_Result (*cmhd_handler)(
    void *context,
    struct MHD_Connection *__attribute__((swift_attr("sending"))) connection,
    const char *uri,
    const char *method,
    const char *version,
    const char *upload,
    size_t *upload_size,
    void **exchange);

/// Calls MHD_start_daemon(), which is variadic, so Swift cannot call it. The daemon takes over `listen_socket`.
///
/// It runs one internal thread on epoll, whose handler may suspend a connection. It serves HTTPS with `key` and
/// `certificate`, both in PEM and read before this returns; plain HTTP if both are NULL.
static inline struct MHD_Daemon *cmhd_start(
    int listen_socket,
    unsigned int idle_timeout_seconds,
    unsigned int connection_limit,
    const char *key,
    const char *certificate,
    cmhd_handler handler,
    void *(*request_line)(void *context, const char *uri, struct MHD_Connection *connection),
    MHD_RequestCompletedCallback completed,
    MHD_NotifyConnectionCallback connection,
    void *context) {
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)key},
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)certificate},
        {MHD_OPTION_END, 0, NULL},
    };
    unsigned int flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME;
    return MHD_start_daemon(
        key ? flags | MHD_USE_TLS : flags, 0, NULL, NULL, handler, context,
        MHD_OPTION_ARRAY, key ? tls : tls + 2,
        MHD_OPTION_LISTEN_SOCKET, listen_socket,
        MHD_OPTION_CONNECTION_TIMEOUT, idle_timeout_seconds,
        MHD_OPTION_CONNECTION_LIMIT, connection_limit,
        MHD_OPTION_URI_LOG_CALLBACK, request_line, context,
        MHD_OPTION_NOTIFY_COMPLETED, completed, context,
        MHD_OPTION_NOTIFY_CONNECTION, connection, context,
        MHD_OPTION_END);
}

/// Calls MHD_get_connection_info(), which is variadic too.
static inline int cmhd_socket(struct MHD_Connection *connection) {
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

/// Creates a response whose body `reader` supplies piece by piece, up to `cmhd_end_of_stream`. The library calls
/// `release` with `context` when it is done with the response.
static inline struct MHD_Response *cmhd_stream(
    MHD_ContentReaderCallback reader, MHD_ContentReaderFreeCallback release, void *context) {
    // The block size matters only for HTTP/1.0: a chunk of HTTP/1.1 is as large as the connection's memory permits.
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 4096, reader, context, release);
}

/// MHD_CONTENT_READER_END_OF_STREAM, as a value that Swift can read.
static const ssize_t cmhd_end_of_stream = MHD_CONTENT_READER_END_OF_STREAM;

/// Calls MHD_set_connection_option(), which is variadic too.
static inline void cmhd_set_timeout(struct MHD_Connection *connection, unsigned int seconds) {
    MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, seconds);
}

/// A GNU extension that the Glibc module leaves out (glibc 2.34).
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);

/// A GNU extension too; the name is what `ps -L` shows.
extern int pthread_setname_np(pthread_t thread, const char *name);

/// A GNU extension too; for tests that mount file systems.
extern int unshare(int flags);

#endif
