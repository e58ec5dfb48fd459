import Glibc
import KiiPushCore

/// Connections that the server has ended while their clients may still be sending.
///
/// Closing a socket with unread bytes resets the connection, and the client may lose the answer. Kii's C SDK ebisu
/// sends `0\r\n\r\n` after every request, and a reset kills it by SIGPIPE. So this class reads and drops bytes until
/// the client closes too, for at most 2 s.
///
/// - Source: RFC 9112 section 9.6.
final class ClosingConnections: Sendable {
    private static let patience = Duration.seconds(2)
    /// Sixteen times the largest accepted body. A client may send the rest of a larger body before it reads the
    /// refusal.
    private static let maximumBytes = 16 << 20
    /// Above this number, the oldest connection is closed.
    private static let maximumCount = 1000

    private let thread = PollThread<FileDescriptor>(name: "kii-closing")

    init() throws(EmulatorError) { try self.thread.run { Loop() } }

    /// Keeps the connection open until its client has closed too, or a limit is reached. Call it before the owner
    /// closes `socket`.
    func take(_ socket: Int32) {
        // Over TLS, libmicrohttpd has sent close_notify, but no FIN.
        shutdown(socket, Int32(SHUT_WR))
        var byte: UInt8 = 0
        let count = recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
        // If `count` is 0, the client has closed too, and the caller may close the socket.
        guard count > 0 || (count < 0 && errno == EAGAIN) else { return }
        // If no descriptor is left, the caller closes the connection at once.
        guard let copy = FileDescriptor(duplicating: socket) else { return }
        self.thread.send(copy)
    }

    /// The thread then closes all connections.
    deinit { self.thread.stop() }

    private final class Connection {
        let socket: FileDescriptor
        let deadline = MonotonicInstant.now() + ClosingConnections.patience
        private var bytesLeft = ClosingConnections.maximumBytes

        init(_ socket: FileDescriptor) { self.socket = socket }

        func drain(_ buffer: inout [UInt8]) -> Bool {
            while self.bytesLeft > 0 {
                let count = self.socket.receive(into: &buffer, flags: Int(MSG_DONTWAIT))
                guard count > 0 else { return count < 0 && errno == EAGAIN }
                self.bytesLeft -= count
            }
            return false
        }
    }

    private struct Loop: PollLoop {
        private var connections: [Connection] = []
        private var buffer = [UInt8](repeating: 0, count: 16_384)

        mutating func turn(_ sockets: [FileDescriptor], readable: Set<Int32>) -> PollWait? {
            let now = MonotonicInstant.now()
            let open = self.connections
            self.connections = open.filter { connection in
                let hasNews = readable.contains(connection.socket.number)
                return connection.deadline > now && (!hasNews || connection.drain(&self.buffer))
            }
            self.connections += sockets.map { Connection($0) }
            self.connections.removeFirst(max(0, self.connections.count - ClosingConnections.maximumCount))
            var wait = PollWait(until: self.connections.first?.deadline)
            for connection in self.connections { wait.watch(connection.socket.number) }
            return wait
        }
    }
}
