import Foundation
import Glibc
import KiiPushCore
import Synchronization
import TestSupport

/// A server on a loopback port or a Unix socket. Runs `script` on its own thread for each connection.
final class LoopbackServer: Sendable {
    let port: UInt16
    let listener: Int32
    private let connections = Locked<[LoopbackConnection]>([])
    private let accepted = Atomic<Int>(0)

    var connectionCount: Int { self.accepted.load(ordering: .sequentiallyConsistent) }

    init(unixPath: String? = nil, script: @escaping @Sendable (LoopbackConnection) -> Void) throws {
        (self.listener, self.port) =
            if let unixPath { (try LoopbackServer.listening(at: unixPath), 0) } else { try Loopback.listening() }
        Thread.detachNewThread { [self] in
            while true {
                let descriptor = accept(self.listener, nil, nil)
                guard descriptor >= 0 else { break }
                self.accepted.add(1, ordering: .sequentiallyConsistent)
                let connection = LoopbackConnection(descriptor)
                self.connections.withLock { $0.append(connection) }
                Thread.detachNewThread {
                    script(connection)
                    connection.finish()
                }
            }
            // Closed on this thread: if `stop` closed it, `accept` here might use another socket with the same number.
            close(self.listener)
        }
    }

    static func http(_ answer: @escaping @Sendable (LoopbackRequest) -> String) throws -> LoopbackServer {
        try LoopbackServer { connection in
            while let request = connection.readRequest() {
                connection.write(answer(request))
            }
        }
    }

    var url: String { "http://127.0.0.1:\(self.port)" }

    func stop() {
        shutdown(self.listener, Int32(SHUT_RDWR))
        for connection in self.connections.withLock({ $0 }) { connection.abort() }
    }

    /// A loopback port that refuses connections until the process ends: a bound socket that does not listen keeps the
    /// port.
    static func refusedPort() throws -> UInt16 { try Loopback.bound().port }

    private static func listening(at path: String) throws -> Int32 {
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let code = withUnsafeBytes(of: &address) { bytes in
            bind(listener, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(bytes.count))
        }
        guard code == 0, listen(listener, 1024) == 0 else { throw POSIXError(.EADDRNOTAVAIL) }
        return listener
    }
}

struct LoopbackRequest: Sendable {
    var head: String
    var body: [UInt8]

    var firstLine: String { String(self.head.prefix { !$0.isNewline }) }
    func has(_ line: String) -> Bool { self.head.lowercased().contains("\r\n\(line.lowercased())") }
}

final class LoopbackConnection: Sendable {
    private let descriptor: Int32
    private let isOpen = Locked(true)
    private let unread = Locked<[UInt8]>([])

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    convenience init?(connectingTo port: UInt16) {
        guard let descriptor = Loopback.connected(to: port) else { return nil }
        self.init(descriptor)
    }

    func read(_ count: Int = 65536) -> [UInt8] {
        let kept = self.unread.withLock { bytes in
            let kept = Array(bytes.prefix(count))
            bytes.removeFirst(kept.count)
            return kept
        }
        guard kept.isEmpty else { return kept }
        var buffer = [UInt8](repeating: 0, count: count)
        let got = Glibc.read(self.descriptor, &buffer, count)
        return got > 0 ? Array(buffer[..<got]) : []
    }

    func readExactly(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let more = self.read(min(count - bytes.count, 65536))
            guard !more.isEmpty else { break }
            bytes += more
        }
        return bytes
    }

    func readRequest() -> LoopbackRequest? {
        var bytes: [UInt8] = []
        let end = Array("\r\n\r\n".utf8)
        while true {
            if let range = bytes.firstRange(of: end) {
                let head = String(decoding: bytes[..<range.lowerBound], as: UTF8.self) + "\r\n"
                self.unread.withLock { [rest = Array(bytes[range.upperBound...])] in $0 = rest }
                let length = head.lowercased().split(separator: "\r\n")
                    .first { $0.hasPrefix("content-length:") }
                    .flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) }
                return LoopbackRequest(head: head, body: self.readExactly(length ?? 0))
            }
            let more = self.read()
            guard !more.isEmpty else { return nil }
            bytes += more
        }
    }

    @discardableResult
    func write(_ bytes: [UInt8]) -> Bool {
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { rest in
                send(self.descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            written += count
        }
        return true
    }

    @discardableResult
    func write(_ text: String) -> Bool { self.write(Array(text.utf8)) }

    /// Keeps written bytes until the connection closes, so that they arrive together with the end.
    func cork() {
        var one: Int32 = 1
        setsockopt(self.descriptor, Int32(IPPROTO_TCP), TCP_CORK, &one, socklen_t(MemoryLayout<Int32>.size))
    }

    func waitForEnd() {
        while !self.read().isEmpty {}
    }

    /// Blocks without reading until the server stops or the connection breaks.
    func waitForStop() {
        var entry = pollfd(fd: self.descriptor, events: 0, revents: 0)
        poll(&entry, 1, -1)
    }

    /// Drops all further packets without an acknowledgement, like a machine that disappeared: the socket's filter
    /// passes no packet. Bytes that were acknowledged before stay readable.
    func goDark() {
        // One instruction, "return 0": BPF_RET | BPF_K, classic BPF (linux/filter.h).
        var instruction: UInt64 = 0x06
        withUnsafeMutablePointer(to: &instruction) { pointer in
            var program = (length: UInt64(1), filter: UInt64(UInt(bitPattern: pointer)))
            let code = setsockopt(
                self.descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &program, socklen_t(MemoryLayout.size(ofValue: program)))
            precondition(code == 0, "no filter can be attached: \(String(cString: strerror(errno)))")
        }
    }

    func shutdownWrite() {
        shutdown(self.descriptor, Int32(SHUT_WR))
    }

    func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(self.descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        self.finish()
    }

    func finish() {
        self.isOpen.withLock { isOpen in
            if isOpen { close(self.descriptor) }
            isOpen = false
        }
    }

    /// Ends the script's blocking calls from another thread.
    ///
    /// The descriptor stays open until ``finish()``, so that its number is not used for another file.
    func abort() {
        self.isOpen.withLock { isOpen in
            if isOpen { shutdown(self.descriptor, Int32(SHUT_RDWR)) }
        }
    }
}

func response(_ body: String = "", status: String = "200 OK", fields: [String] = []) -> String {
    let lines = ["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)"] + fields
    return lines.joined(separator: "\r\n") + "\r\n\r\n" + body
}
