import Glibc
import KiiPushCore

/// A Unix socket that answers HTTP GET requests with a page. A single thread accepts and reads. A silent client delays
/// the next client by 1 s, a client that sends byte by byte by 2 s at most.
final class MetricsSocket: Sendable {
    struct Request: Sendable {
        fileprivate let socket: FileDescriptor
        fileprivate let isUnderstood: Bool

        /// Answers and closes the connection. Blocks only if the page exceeds the socket's buffer.
        func answer(_ page: String) {
            let body = self.isUnderstood ? page : "only GET is understood\n"
            let head =
                "HTTP/1.0 \(self.isUnderstood ? "200 OK" : "400 Bad Request")\r\n"
                + "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
            var rest = Array((head + body).utf8)[...]
            while !rest.isEmpty {
                let count = self.socket.send(rest)
                guard count > 0 else { break }
                rest = rest.dropFirst(count)
            }
            self.socket.shutDown(.both)
        }
    }

    let requests: AsyncStream<Request>
    private let path: String
    private let socket: FileDescriptor

    /// Listens for this user only. Replaces a socket at `path` if no process listens on it.
    ///
    /// - Throws: ``CommandFailure``, such as exit 75 if another process listens on it, and 73 if it cannot be created.
    init(path: String) throws {
        let address = try Self.address(path)
        try Self.removeStale(path, address)
        guard let socket = FileDescriptor(socket: AF_UNIX) else { throw Self.failure(path) }
        // Before bind(2): on Linux the file gets the mode of the socket, so other users never have access.
        guard fchmod(socket.number, 0o600) == 0, address.withAddress({ bind(socket.number, $0, $1) }) == 0,
            listen(socket.number, 16) == 0
        else { throw Self.failure(path) }
        let (requests, continuation) = AsyncStream.makeStream(of: Request.self)
        do {
            try OSThread(name: "metrics") { Self.accept(on: socket, into: continuation) }.detach()
        } catch {
            unlink(path)
            throw CommandFailure(.temporary, "no thread can be started for \(path): \(errorText(error.code))")
        }
        self.requests = requests
        self.path = path
        self.socket = socket
    }

    func close() {
        unlink(self.path)
        self.socket.shutDown(.both)
    }

    private static func accept(on socket: FileDescriptor, into requests: AsyncStream<Request>.Continuation) {
        while true {
            if let client = socket.accept(waits: true) {
                let isUnderstood = Self.readRequest(client)
                requests.yield(Request(socket: client, isUnderstood: isUnderstood))
            } else if errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS {
                // No descriptor or memory is free. The connection stays in the queue. poll(2) waits 100 ms, or until
                // ``close()``.
                var entry = pollfd(fd: socket.number, events: 0, revents: 0)
                poll(&entry, 1, 100)
            } else if errno != EINTR, errno != ECONNABORTED {
                break
            }
        }
        requests.finish()
    }

    private static func readRequest(_ client: FileDescriptor) -> Bool {
        client.limit(SO_RCVTIMEO, to: .seconds(1))
        client.limit(SO_SNDTIMEO, to: .seconds(1))
        var request: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1024)
        // A limit for the whole request, for clients that send byte by byte.
        let end = ContinuousClock.now + .seconds(1)
        while request.count < 8192, ContinuousClock.now < end {
            let count = client.receive(into: &chunk)
            guard count > 0 else { return false }
            request += chunk[..<count]
            let text = String(decoding: request, as: UTF8.self)
            if text.contains(bytesOf: "\r\n\r\n") || text.contains(bytesOf: "\n\n") { return text.hasPrefix("GET ") }
        }
        return false
    }

    private static func removeStale(_ path: String, _ address: sockaddr_un) throws {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw CommandFailure(.cannotCreate, "\(path) is there already and no socket", hint: "name another path")
        }
        guard let probe = FileDescriptor(socket: AF_UNIX) else { throw Self.failure(path) }
        guard address.withAddress({ connect(probe.number, $0, $1) }) != 0, errno == ECONNREFUSED else {
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
