import CGnuTLS
import Glibc
import KiiPushCore

/// The emulator's TLS certificate and key.
// Unchecked Sendable. Proof: the pointer is a constant, and `init` alone changes the credentials, before another thread
// can have them. Sessions only read them, which several threads may do (GnuTLS manual, "Thread safety"). The thread that
// releases the last reference frees them; each session holds one (`TLSSession.identity`).
final class TLSIdentity: @unchecked Sendable {
    fileprivate let credentials: gnutls_certificate_credentials_t

    init(_ certificates: Certificates) throws(EmulatorError) {
        let identity = try certificates.serverIdentity()
        var made: gnutls_certificate_credentials_t?
        guard gnutls_certificate_allocate_credentials(&made) == 0, let made else {
            throw .system("prepare TLS", ENOMEM)
        }
        self.credentials = made
        var (certificate, key) = (Array(identity.certificate.utf8), Array(identity.key.reveal().utf8))
        let result = certificate.withUnsafeMutableBufferPointer { certificate in
            key.withUnsafeMutableBufferPointer { key in
                var first = gnutls_datum_t(data: certificate.baseAddress, size: UInt32(certificate.count))
                var second = gnutls_datum_t(data: key.baseAddress, size: UInt32(key.count))
                return gnutls_certificate_set_x509_key_mem(made, &first, &second, GNUTLS_X509_FMT_PEM)
            }
        }
        guard result >= 0 else {
            let words = String(cString: gnutls_strerror(result))
            throw EmulatorError(.certificatesFailed, "TLS does not take those in \(certificates.directory): \(words)")
        }
    }

    deinit { gnutls_certificate_free_credentials(self.credentials) }
}

/// The server side of TLS on a nonblocking socket. Used by one thread. libmicrohttpd's TLS is not used, since its
/// buffers delayed each message by 40 ms.
final class TLSSession {
    private let session: gnutls_session_t
    private let socket: FileDescriptor
    /// GnuTLS needs the credentials as long as the session lives.
    private let identity: TLSIdentity
    private var isReady = false
    private(set) var failure: String?

    /// Returns `nil` if memory is short.
    init?(_ identity: TLSIdentity, on socket: FileDescriptor) {
        guard let session = cgnutls_serve(identity.credentials, socket.number) else { return nil }
        self.session = session
        self.socket = socket
        self.identity = identity
    }

    deinit { gnutls_deinit(self.session) }

    /// Like `FileDescriptor.receive(into:)`. The first calls carry out the handshake.
    func receive(into buffer: inout [UInt8]) -> Int {
        if !self.isReady {
            let result = gnutls_handshake(self.session)
            guard result == 0 else {
                // The client gets the alert before the connection ends.
                if gnutls_error_is_fatal(result) != 0 { gnutls_alert_send_appropriate(self.session, result) }
                return self.failed(Int(result))
            }
            self.isReady = true
        }
        let count = gnutls_record_recv(self.session, &buffer, buffer.count)
        if count == Int(GNUTLS_E_PREMATURE_TERMINATION) { return 0 }
        return count >= 0 ? count : self.failed(count)
    }

    /// Like `FileDescriptor.send(_:)`. The caller repeats unsent bytes, and may append to them.
    func send(_ bytes: ArraySlice<UInt8>) -> Int {
        guard self.isReady else {
            errno = ENOTCONN
            return -1
        }
        let count = bytes.withUnsafeBytes { gnutls_record_send(self.session, $0.baseAddress, $0.count) }
        return count >= 0 ? count : self.failed(count)
    }

    func end() { if self.isReady { gnutls_bye(self.session, GNUTLS_SHUT_WR) } }

    private func failed(_ result: Int) -> Int {
        guard gnutls_error_is_fatal(Int32(result)) != 0 else {
            errno = EAGAIN
            return -1
        }
        if !self.isReady { self.failure = String(cString: gnutls_strerror(Int32(result))) }
        errno = EPROTO
        return -1
    }
}
