import Foundation
import Glibc
import KiiPushCore

/// Counts the accesses to a file by all processes. The kernel's watch (`inotify(7)`) reports opening and closing,
/// `/proc` the open descriptors.
package final class FileWatch {
    /// Numbers of opened descriptors, and of closed descriptors that could write.
    package struct Counts: Sendable, Hashable {
        package var opened = 0
        package var writersClosed = 0
    }

    private let path: String
    private let descriptor: Int32

    package init(_ path: String) throws {
        self.path = URL(filePath: path).resolvingSymlinksInPath().path
        self.descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        let isWatched =
            self.descriptor >= 0
            && inotify_add_watch(self.descriptor, path, UInt32(IN_OPEN | IN_CLOSE_WRITE)) >= 0
        guard isWatched else { throw TestFailure("\(path) cannot be watched: errno \(errno)") }
    }

    deinit { close(self.descriptor) }

    /// The counts since the last call.
    package func counts() -> Counts {
        var counts = Counts()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let length = read(self.descriptor, &buffer, buffer.count), length > 0 {
            buffer.withUnsafeBytes { bytes in
                // Each event is a header and a name, whose length is the header's last field.
                let header = MemoryLayout<inotify_event>.size
                var start = 0
                while start + header <= length {
                    let event = bytes.loadUnaligned(fromByteOffset: start, as: inotify_event.self)
                    if event.mask & UInt32(IN_OPEN) != 0 { counts.opened += 1 }
                    if event.mask & UInt32(IN_CLOSE_WRITE) != 0 { counts.writersClosed += 1 }
                    start += header + Int(event.len)
                }
            }
        }
        return counts
    }

    /// Waits until exactly these processes have the file open for writing. A process with several such descriptors
    /// counts several times. A process that is just starting has its parent's descriptors for a moment.
    ///
    /// Only the processes of this user are visible; to root, all of them.
    ///
    /// - Returns: the processes that have it open for writing at the end.
    package func writers(until expected: [Int32]) throws -> [Int32] {
        let end = MonotonicInstant.now() + .seconds(600)
        var writers = try self.writers()
        while writers != expected, MonotonicInstant.now() < end {
            usleep(10_000)
            writers = try self.writers()
        }
        return writers
    }

    private func writers() throws -> [Int32] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { Int32($0) }.flatMap { process in
            // A process that ended meanwhile has no open files.
            let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd")) ?? []
            return names.filter { self.isWriting($0, of: process) }.map { _ in process }
        }
    }

    private func isWriting(_ name: String, of process: Int32) -> Bool {
        let place = "/proc/\(process)/fd/\(name)"
        guard (try? FileManager.default.destinationOfSymbolicLink(atPath: place)) == self.path,
            let info = try? String(contentsOfFile: "/proc/\(process)/fdinfo/\(name)", encoding: .utf8),
            let flags = info.split(separator: "\n").first(where: { $0.hasPrefix("flags:") })?.split(separator: "\t")
                .last,
            let number = Int32(flags.trimmingCharacters(in: .whitespaces), radix: 8)
        else { return false }
        return number & O_ACCMODE != O_RDONLY
    }
}
