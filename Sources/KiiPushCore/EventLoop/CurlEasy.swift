import CCurl
import Glibc

final class CurlEasy {
    let raw: UnsafeMutableRawPointer
    private let errorBuffer: UnsafeMutablePointer<CChar>

    init() throws(TransportError) {
        guard let raw = curl_easy_init() else {
            throw TransportError(.other, detail: "curl_easy_init returned no handle")
        }
        self.raw = raw
        self.errorBuffer = .allocate(capacity: Int(CURL_ERROR_SIZE))
    }

    deinit {
        curl_easy_cleanup(self.raw)
        self.errorBuffer.deallocate()
    }

    func reset() { curl_easy_reset(self.raw) }

    /// `CURLOPT_PRIVATE` does not keep the object alive.
    static func owner<Owner: AnyObject>(of raw: UnsafeMutableRawPointer, _ type: Owner.Type) -> Owner? {
        var context: UnsafeMutableRawPointer?
        guard ccurl_easy_get_private(raw, &context) == CURLE_OK, let context else { return nil }
        return Unmanaged<Owner>.fromOpaque(context).takeUnretainedValue()
    }

    func prepare() throws(TransportError) {
        self.clearError()
        try self.check(ccurl_easy_set_pointer(self.raw, CURLOPT_ERRORBUFFER, self.errorBuffer))
        // Without this option, libcurl would end name lookups by a signal, which may reach another thread.
        try self.set(CURLOPT_NOSIGNAL, 1)
        try self.set(CURLOPT_PROTOCOLS, ccurl_web_protocols())
        try self.check(ccurl_easy_set_socket_callback(self.raw, openSocket))
        // Without this option, cancelling a lookup waits for the resolver.
        _ = ccurl_easy_set_quick_exit(self.raw)
    }

    func set(_ option: CURLoption, _ value: Int) throws(TransportError) {
        try self.check(ccurl_easy_set_long(self.raw, option, value))
    }

    /// libcurl copies `value`.
    func set(_ option: CURLoption, _ value: String) throws(TransportError) {
        var value = value
        guard !value.withUTF8({ $0.contains(0) }) else {
            throw TransportError(.invalidConfiguration, detail: "text for libcurl contains a NUL byte")
        }
        try self.check(ccurl_easy_set_string(self.raw, option, value))
    }

    /// libcurl reads 0 as no limit, so shorter times count as 1 ms.
    func setMilliseconds(_ option: CURLoption, _ duration: Duration) throws(TransportError) {
        try self.set(option, Int(min(max(duration.wholeMillisecondsRoundedUp, 1), Int64(Int32.max))))
    }

    /// The pointer must stay valid until the option changes or the handle is reset.
    func setUnowned(_ option: CURLoption, _ value: UnsafeMutableRawPointer?) throws(TransportError) {
        try self.check(ccurl_easy_set_pointer(self.raw, option, value))
    }

    func integer(_ info: CURLINFO) -> Int {
        var value = 0
        return ccurl_easy_get_long(self.raw, info, &value) == CURLE_OK ? value : 0
    }

    func time(_ info: CURLINFO) -> Duration? {
        var microseconds: curl_off_t = 0
        guard ccurl_easy_get_offset(self.raw, info, &microseconds) == CURLE_OK, microseconds > 0 else { return nil }
        return .microseconds(Int64(microseconds))
    }

    func clearError() { self.errorBuffer.pointee = 0 }

    func error(_ code: CURLcode) -> TransportError {
        var error = TransportError.curl(code, text: String(cString: self.errorBuffer))
        error.isUnsent = !Self.countsNoRequests && self.integer(CURLINFO_REQUEST_SIZE) == 0
        let proxyStatus = self.integer(CURLINFO_HTTP_CONNECTCODE)
        if proxyStatus >= 300, error.code == .connectionLost {
            // libcurl reports a refused CONNECT as a failed read.
            error.code = .connectionRefused
        }
        return error
    }

    /// libcurl 8.7 reports 0 as the size of every request (curl's issue 13269).
    private static let countsNoRequests: Bool = {
        guard let version = curl_version_info(CURLVERSION_FIRST)?.pointee.version_num else { return true }
        return (0x08_07_00..<0x08_08_00).contains(version)
    }()

    func check(_ code: CURLcode) throws(TransportError) {
        guard code == CURLE_OK else { throw self.error(code) }
    }
}

// Opens sockets with close-on-exec at once, since another thread may start a program at any time. With an inherited
// descriptor, that program would keep the connection open, and epoll would go on reporting it (epoll(7)).
private func openSocket(
    _ context: UnsafeMutableRawPointer?, _ purpose: curlsocktype, _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let address = address?.pointee else { return -1 }
    return socket(address.family, address.socktype | Int32(SOCK_CLOEXEC.rawValue), address.protocol)
}
