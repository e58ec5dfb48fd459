import Foundation
import Glibc
import KiiPushCore

/// A local datagram socket that keeps its datagrams. It plays a service manager or a journal.
package final class DatagramReceiver: Sendable {
    /// Limit of a wait for a datagram: longer than it takes on a busy machine.
    private static let patience: TimeInterval = 600

    /// In the form of `NOTIFY_SOCKET`.
    package let path: String
    private let descriptor: Int32
    private let received = Locked<[[UInt8]]>([])
    /// Locked around every change, so that a waiting thread misses none.
    private let condition = NSCondition()

    /// - Parameter path: a path, or an abstract name that begins with `@`.
    package init(_ path: String) throws {
        self.path = path
        self.descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(path.utf8)
        let isAbstract = path.hasPrefix("@")
        if isAbstract { bytes[0] = 0 }
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard bytes.count < room else { throw TestFailure("too long for a socket: \(path)") }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = MemoryLayout<sockaddr_un>.size - room + bytes.count + (isAbstract ? 0 : 1)
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(self.descriptor, $0, socklen_t(length)) }
        }
        guard code == 0 else { throw TestFailure("cannot bind \(path): errno \(errno)") }
        Thread.detachNewThread { [descriptor, weak self] in
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = recv(descriptor, &buffer, buffer.count, 0)
                // `deinit` shuts the socket down, and `recv` then returns 0.
                guard count > 0, let self else { break }
                self.take(Array(buffer[..<count]))
            }
            close(descriptor)
        }
    }

    deinit { shutdown(self.descriptor, Int32(SHUT_RDWR)) }

    package var texts: [String] { self.received.withLock { $0 }.map { String(decoding: $0, as: UTF8.self) } }

    package var datagrams: [[UInt8]] { self.received.withLock { $0 } }

    /// Waits until `isEnough` accepts the datagrams, or the time is over. Returns all of them.
    @discardableResult
    package func wait(until isEnough: ([String]) -> Bool) -> [String] {
        let deadline = Date(timeIntervalSinceNow: Self.patience)
        return self.condition.withLock {
            while !isEnough(self.texts), self.condition.wait(until: deadline) {}
            return self.texts
        }
    }

    /// Waits for a datagram with a line that begins with `start`, and returns the rest of that line.
    package func line(_ start: String, after count: Int = 0) -> String? {
        let texts = self.wait { $0.dropFirst(count).contains { Self.rest(of: start, in: $0) != nil } }
        return texts.dropFirst(count).compactMap { Self.rest(of: start, in: $0) }.first
    }

    private static func rest(of start: String, in text: String) -> String? {
        text.split(separator: "\n").first { $0.hasPrefix(start) }.map { String($0.dropFirst(start.count)) }
    }

    private func take(_ bytes: [UInt8]) {
        self.condition.withLock {
            self.received.withLock { $0.append(bytes) }
            self.condition.broadcast()
        }
    }
}
