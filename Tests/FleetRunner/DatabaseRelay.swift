#if Postgres
import Foundation
import Glibc
import KiiPushCore
import TestSupport

/// A relay between a gateway and its database. It can stop passing data, as a cut network does: neither side notices.
final class DatabaseRelay: Sendable {
    /// The folder of the socket that the gateway connects to.
    let directory: String
    private let target: Locked<String>
    private let isCut = Monitor(false)
    private let listener: Int32

    /// - Parameters:
    ///   - directory: the folder of the relay's socket, which is made here.
    ///   - target: the folder of the database's socket.
    init(in directory: String, to target: String) throws {
        self.directory = directory
        self.target = Locked(target)
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        self.listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let isListening = Self.withAddress(directory) { bind(self.listener, $0, $1) == 0 }
        guard isListening, listen(self.listener, 64) == 0 else { throw TestFailure("no socket in \(directory)") }
        try OSThread(name: "relay") { [self] in
            while case let client = accept(self.listener, nil, nil), client >= 0 {
                _ = fcntl(client, F_SETFD, FD_CLOEXEC)
                try? OSThread(name: "relay") { self.serve(client) }.detach()
            }
        }.detach()
    }

    /// Stops passing data until ``mend()``.
    func cut() { self.isCut.withLock { $0 = true } }

    func mend() {
        self.isCut.withLock { $0 = false }
        self.isCut.signalAll()
    }

    /// Changes the target of new connections. Existing ones stay.
    func lead(to target: String) { self.target.withLock { $0 = target } }

    private func waitWhileCut() { self.isCut.wait { $0 ? .sleep(until: nil) : .leave(()) } }

    private func serve(_ client: Int32) {
        self.waitWhileCut()
        let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let target = self.target.withLock { $0 }
        if Self.withAddress(target, { connect(server, $0, $1) == 0 }),
            let answers = try? OSThread(name: "relay", { self.pass(server, to: client) })
        {
            self.pass(client, to: server)
            answers.join()
        }
        close(server)
        close(client)
    }

    private func pass(_ source: Int32, to destination: Int32) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(source, &buffer, buffer.count)
            self.waitWhileCut()
            guard count > 0 else { break }
            var sent = 0
            while sent < count {
                let written = buffer[sent..<count].withUnsafeBytes {
                    send(destination, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard written > 0 else { break }
                sent += written
            }
            guard sent == count else { break }
        }
        // Ends the other direction as well.
        shutdown(source, Int32(SHUT_RDWR))
        shutdown(destination, Int32(SHUT_RDWR))
    }

    private static func withAddress(_ directory: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Bool) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = Array("\(directory)/.s.PGSQL.5432".utf8)
        guard path.count < MemoryLayout.size(ofValue: address.sun_path) else { return false }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        return withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
#endif
