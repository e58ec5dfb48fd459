#ifndef CGNUTLS_SHIM_H
#define CGNUTLS_SHIM_H

#include <gnutls/gnutls.h>

/// A server's session on a socket that does not block. The flags stand here because the header has two names for each.
static inline gnutls_session_t cgnutls_serve(gnutls_certificate_credentials_t credentials, int socket) {
    gnutls_session_t session = NULL;
    if (gnutls_init(&session, GNUTLS_SERVER | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL) < 0) return NULL;
    if (gnutls_set_default_priority(session) < 0
        || gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, credentials) < 0) {
        gnutls_deinit(session);
        return NULL;
    }
    gnutls_transport_set_int2(session, socket, socket);
    return session;
}

#endif
