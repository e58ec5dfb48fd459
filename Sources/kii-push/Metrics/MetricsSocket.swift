import Glibc
import KiiPushCore

/// A Unix socket that answers every HTTP request with the same page. One thread accepts and reads. A client has one
/// second for its request, so a silent client delays the next one by a second at most.
final class MetricsSocket: Sendable {
    struct Request: Sendable {
        fileprivate let descriptor: Int32
        fileprivate let isUnderstood: Bool

        /// Answers, and ends the connection. The page is smaller than a socket's buffer, so this waits for nobody.
        func answer(_ page: String) {
            let body = self.isUnderstood ? page : "only GET is understood\n"
            let head =
                "HTTP/1.0 \(self.isUnderstood ? "200 OK" : "400 Bad Request")\r\n"
                + "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
            var rest = Array((head + body).utf8)[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes {
                    send(self.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                if count < 0, errno == EINTR { continue }
                // One that went away, or does not read, has no use for the rest.
                guard count > 0 else { break }
                rest = rest.dropFirst(count)
            }
            Glibc.close(self.descriptor)
        }
    }

    /// Who asks. Ends after ``close()``.
    let requests: AsyncStream<Request>
    private let path: String
    private let descriptor: Int32

    /// Listens, open to this user alone. A socket at `path` on which nobody answers any more is replaced.
    ///
    /// - Throws: ``CommandFailure`` with exit 75 when another process answers there, 73 when no socket can be made.
    init(path: String) throws {
        let address = try Self.address(path)
        try Self.removeStale(path, address)
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Self.failure(path) }
        // On Linux the file gets the mode of the socket: it is never open to others, not even for a moment.
        guard fchmod(descriptor, 0o600) == 0, address.withAddress({ bind(descriptor, $0, $1) }) == 0,
            listen(descriptor, 16) == 0
        else {
            let failure = Self.failure(path)
            Glibc.close(descriptor)
            throw failure
        }
        let (requests, continuation) = AsyncStream.makeStream(of: Request.self)
        do {
            try OSThread(name: "metrics") { Self.accept(on: descriptor, into: continuation) }.detach()
        } catch {
            Glibc.close(descriptor)
            unlink(path)
            throw CommandFailure(.temporary, "no thread can be started for \(path): \(errorText(error.code))")
        }
        (self.requests, self.path, self.descriptor) = (requests, path, descriptor)
    }

    /// Ends it, and removes the socket. To be called once.
    func close() {
        unlink(self.path)
        // Wakes the thread, which then closes the descriptor.
        shutdown(self.descriptor, Int32(SHUT_RDWR))
    }

    private static func accept(on descriptor: Int32, into requests: AsyncStream<Request>.Continuation) {
        while true {
            let client = acceptSocket(descriptor, waits: true)
            if client >= 0 {
                let isUnderstood = Self.readRequest(client)
                requests.yield(Request(descriptor: client, isUnderstood: isUnderstood))
            } else if errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS {
                // It waits in the queue until there is room; the end of the socket is noticed meanwhile.
                var entry = pollfd(fd: descriptor, events: 0, revents: 0)
                poll(&entry, 1, 100)
            } else if errno != EINTR, errno != ECONNABORTED {
                break
            }
        }
        requests.finish()
        Glibc.close(descriptor)
    }

    private static func readRequest(_ client: Int32) -> Bool {
        var limit = timeval(tv_sec: 1, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
        setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
        var request: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1024)
        // For all of it: nobody is to keep the others waiting byte by byte.
        let end = ContinuousClock.now + .seconds(1)
        while request.count < 8192, ContinuousClock.now < end {
            let count = read(client, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            request += chunk[..<count]
            let text = String(decoding: request, as: UTF8.self)
            if text.contains("\r\n\r\n") || text.contains("\n\n") { return text.hasPrefix("GET ") }
        }
        return false
    }

    private static func removeStale(_ path: String, _ address: sockaddr_un) throws {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw CommandFailure(.cannotCreate, "\(path) is there already and no socket", hint: "name another path")
        }
        let probe = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard probe >= 0 else { throw Self.failure(path) }
        defer { Glibc.close(probe) }
        guard address.withAddress({ connect(probe, $0, $1) }) != 0, errno == ECONNREFUSED else {
            throw CommandFailure(.temporary, "another process answers on \(path)", hint: "name another path")
        }
        unlink(path)
    }

    private static func address(_ path: String) throws -> sockaddr_un {
        let room = sockaddr_un.room - 1
        guard !path.isEmpty, path.utf8.count <= room, !path.utf8.contains(0) else {
            throw CommandFailure(.usage, "the path of a socket has 1 to \(room) bytes, and \(path) has not")
        }
        return sockaddr_un(path.utf8)
    }

    private static func failure(_ path: String) -> CommandFailure {
        CommandFailure(.cannotCreate, "cannot listen on \(path): \(errorText(errno))")
    }
}
