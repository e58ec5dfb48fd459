import Foundation
import Glibc
import KiiPushCore
import TestSupport
import Testing

/// A host name with two addresses of this machine. The first never answers, not even with a refusal; the second leads
/// to a port of 127.0.0.1. Programs started by `start` resolve the name with a private hosts file.
final class TwoAddresses: Sendable {
    static let name = "two-addresses.test"
    // Both are equally near to 127.0.0.1, so getaddrinfo(3) keeps their order (RFC 6724 section 5, rule 9).
    private static let (dead, live) = (UInt32(0x7f00_0002), UInt32(0x7f00_0003))

    /// Whether this user may mount a private hosts file.
    static let arePossible: Bool = {
        let trial = try? ChildProgram(TwoAddresses.hiding + ["true"])
        return trial?.wait() == 0
    }()

    private static var hiding: [String] {
        ["unshare", "--mount", "--propagation", "private"] + (geteuid() == 0 ? [] : ["--map-root-user"])
    }

    private let port: UInt16
    private let hosts: String
    private let descriptors: [Int32]

    /// - Parameters:
    ///   - port: the server's port on 127.0.0.1.
    ///   - tool: its home directory gets the hosts file.
    init(to port: UInt16, _ tool: Tool) throws {
        self.port = port
        self.hosts = try tool.write(
            "127.0.0.1 localhost\n127.0.0.2 \(Self.name)\n127.0.0.3 \(Self.name)\n", to: "hosts", mode: 0o644)
        // The kernel completes one connection that nobody accepts, and drops further ones.
        let hole = try Self.listener(Self.dead, port, backlog: 0)
        let waiting = (0..<4).map { _ in Self.connecting(to: Self.dead, port) }
        let listener = try Self.listener(Self.live, port, backlog: 1024)
        self.descriptors = [hole, listener] + waiting
        Thread.detachNewThread {
            while true {
                let descriptor = accept(listener, nil, nil)
                // `deinit` shuts the listener down.
                guard descriptor >= 0 else { return }
                guard let far = Loopback.connected(to: port) else {
                    close(descriptor)
                    continue
                }
                let ends = DispatchGroup()
                for (from, to) in [(descriptor, far), (far, descriptor)] {
                    ends.enter()
                    Thread.detachNewThread {
                        Self.pass(from, to)
                        ends.leave()
                    }
                }
                Thread.detachNewThread {
                    ends.wait()
                    close(descriptor)
                    close(far)
                }
            }
        }
    }

    deinit {
        for descriptor in self.descriptors {
            shutdown(descriptor, Int32(SHUT_RDWR))
            close(descriptor)
        }
    }

    func start(_ tool: Tool, _ arguments: [String]) throws -> RunningTool {
        let words = ["sh", "-c", "mount --bind \"$0\" /etc/hosts && exec \"$@\"", self.hosts, try Tool.executable.path]
        return try RunningTool(Self.hiding + words + arguments, environment: tool.environment)
    }

    private static func pass(_ from: Int32, _ to: Int32) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(from, &buffer, buffer.count)
            guard count > 0, send(to, buffer, count, Int32(MSG_NOSIGNAL)) == count else { break }
        }
        shutdown(from, Int32(SHUT_RD))
        shutdown(to, Int32(SHUT_WR))
    }

    private static func listener(_ address: UInt32, _ port: UInt16, backlog: Int32) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let isBound = Self.withAddress(address, port) { bind(descriptor, $0, $1) } == 0
        try #require(isBound && listen(descriptor, backlog) == 0, "port \(port): errno \(errno)")
        return descriptor
    }

    private static func connecting(to address: UInt32, _ port: UInt16) -> Int32 {
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let descriptor = socket(AF_INET, Int32(kind), 0)
        _ = Self.withAddress(address, port) { connect(descriptor, $0, $1) }
        return descriptor
    }

    private static func withAddress(
        _ host: UInt32, _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = host.bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
