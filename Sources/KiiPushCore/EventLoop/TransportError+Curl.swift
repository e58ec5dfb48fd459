import CCurl
import Glibc

extension TransportError {
    /// `text` is the content of libcurl's error buffer, used unless empty.
    static func curl(_ code: CURLcode, text: String = "") -> TransportError {
        let detail = (text.isEmpty ? String(cString: curl_easy_strerror(code)) : text).withoutCredentials
        var error = TransportError(TransportError.Code(code), detail: detail, curlCode: Int(code.rawValue))
        // libcurl has no code for TLS alerts. Its text contains the message of the TLS library, here OpenSSL's.
        if detail.contains(bytesOf: "alert certificate required") {
            // RFC 8446 section 6.2. The alert comes after the handshake, so libcurl reports a failed read.
            error.code = .clientCertificateRequired
            error.detail = "the server asks for a client certificate (\(detail))"
        } else if detail.contains(bytesOf: "alert handshake failure") {
            // TLS 1.2 has no special alert for a client without a certificate (RFC 5246 section 7.4.6).
            error.code = .clientCertificateRequired
            error.detail = "the server refused the handshake, perhaps for want of a client certificate (\(detail))"
        }
        if Self.neededDescriptor(code), let shortage = self.shortage {
            // libcurl does not say why it could not open a socket or a file.
            error.isShortage = true
            if error.code == .invalidConfiguration { error.code = .other }
            error.detail += " (\(errorText(shortage)))"
        }
        return error
    }

    private static func neededDescriptor(_ code: CURLcode) -> Bool {
        [
            CURLE_FAILED_INIT, CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT,
            CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CRL_BADFILE,
        ].contains(code)
    }

    /// `EMFILE` or `ENFILE` if the process can open no further descriptor, otherwise `nil`.
    private static var shortage: Int32? {
        guard FileDescriptor(opening: "/dev/null", O_RDONLY) == nil else { return nil }
        let code = errno
        return [EMFILE, ENFILE].contains(code) ? code : nil
    }

    static let shutDown = TransportError(.shutDown, detail: "the event loop was shut down")
}

extension TransportError.Code {
    /// - Source: libcurl-errors(3).
    init(_ code: CURLcode) {
        self =
            switch code {
            case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .nameNotResolved
            // 97 is CURLE_PROXY, which headers before 7.73 lack: a SOCKS proxy refused.
            case CURLE_COULDNT_CONNECT, CURLcode(97): .connectionRefused
            case CURLE_OPERATION_TIMEDOUT: .timedOut
            // libcurl before 7.62 used 51 for a wrong name.
            case CURLE_PEER_FAILED_VERIFICATION, CURLcode(51), CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
                CURLE_SSL_INVALIDCERTSTATUS:
                .certificateNotTrusted
            // These errors occur before anything is sent.
            case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_USE_SSL_FAILED: .tlsFailed
            case CURLE_SSL_SHUTDOWN_FAILED, CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE,
                CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_NO_CONNECTION_AVAILABLE:
                .connectionLost
            case CURLE_FILESIZE_EXCEEDED: .tooLarge
            case CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT, CURLE_NOT_BUILT_IN, CURLE_UNKNOWN_OPTION,
                CURLE_BAD_FUNCTION_ARGUMENT, CURLE_INTERFACE_FAILED, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM,
                CURLE_SSL_CRL_BADFILE, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED:
                .invalidConfiguration
            default: .other
            }
    }
}
