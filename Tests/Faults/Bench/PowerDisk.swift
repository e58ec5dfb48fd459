import Foundation
import Glibc
import KiiPushCore
import SeededNumbers
import TestSupport

/// A disk with ext4 whose power can be cut. A cut drops a random part of the writes that were not flushed.
///
/// The file system is on a loop device. nbdfuse serves the file below that device. nbdfuse gets the content from
/// nbdkit, whose plugin is `Tests/PowerDisk/forgetful.c`.
package final class PowerDisk: Sendable {
    /// The reason why no such disk can be made here; `nil` if only a trial can show it.
    package static var obstacle: LeftOut? {
        guard FaultBench.canMount else { return .onlyRootMounts }
        guard access(self.plugin, R_OK) == 0 else {
            return LeftOut("\(self.plugin) is missing, which script/faults compiles")
        }
        return nil
    }

    private static let plugin = productsDirectory.appendingPathComponent("forgetful.so").path
    // On so small a disk, an inbox limits its log to a megabyte, so checkpoints come soon.
    private static let bytes = 24 << 20

    private struct State {
        var random: SeededGenerator
        /// nbdfuse and nbdkit, while the power is on.
        var server: ReceiverProcess?
        var starts = 0
    }

    private let mountPoint: String
    /// Folder of the content, of the device's file, and of the disk's other files.
    private let folder: String
    private let state: Locked<State>
    /// Held while an order waits for its answer.
    private let orders = Locked<Void>(())

    /// Makes and mounts the disk.
    ///
    /// - Throws: ``LeftOut`` if that is impossible here.
    init(at mountPoint: String, in directory: String, seed: UInt64) async throws {
        self.mountPoint = mountPoint
        self.folder = "\(directory)/power-disk"
        self.state = Locked(State(random: SeededGenerator(seed: seed)))
        if let obstacle = PowerDisk.obstacle { throw obstacle }
        do {
            try PrivateFile.makeDirectory(self.mountPoint)
            try PrivateFile.makeDirectory(self.folder)
            for name in ["device", "content"] { try OwnFile.replace(self.path(name), with: []) }
            truncate(self.path("content"), PowerDisk.bytes)
            try await PowerDisk.run("mkfs.ext4", "-q", "-b", "4096", "-E", "nodiscard", self.path("content"))
            for name in ["orders", "answers"] where mkfifo(self.path(name), 0o600) != 0 {
                throw FaultError("cannot make \(self.path(name)): errno \(errno)")
            }
            try await self.turnOn()
        } catch let error {
            self.turnOff()
            throw LeftOut("the disk cannot be made: \(error)")
        }
    }

    private func path(_ name: String) -> String { "\(self.folder)/\(name)" }

    // MARK: - Power

    var cuts: Int { self.state.withLock { $0.starts - 1 } }

    func turnOn() async throws {
        let seed = self.state.withLock { state in
            state.starts += 1
            return state.random.next()
        }
        unlink(self.path("ready"))
        let server = ReceiverProcess(
            program: "nbdfuse",
            arguments: [
                "-P", self.path("ready"), self.path("device"), "--command", "nbdkit", "-s", PowerDisk.plugin,
                "content=\(self.path("content"))", "orders=\(self.path("orders"))", "answers=\(self.path("answers"))",
                "seed=\(seed)",
            ], environment: [:], output: self.path("output"))
        try server.start()
        self.state.withLock { $0.server = server }
        while access(self.path("ready"), F_OK) != 0 {
            guard server.isRunning else { throw FaultError("nbdfuse has ended: \(server.lastWords)") }
            try await Task.sleep(for: .milliseconds(1))
        }
        // In the mode `writeback`, ext4 may write a name before the content of its file. The inbox must not depend on
        // that order.
        let mode = self.state.withLock { $0.random.next() } % 2 == 0 ? "ordered" : "writeback"
        try await PowerDisk.run("mount", "-o", "loop,noatime,data=\(mode)", self.path("device"), self.mountPoint)
    }

    /// Ends the disk and checks its file system. A fault would show that the disk forgot flushed data.
    func verify() async throws {
        guard umount2(self.mountPoint, 0) == 0 else { throw FaultError("cannot unmount the disk: errno \(errno)") }
        self.turnOff()
        try await PowerDisk.run("e2fsck", "-f", "-n", self.path("content"))
    }

    /// Kills the disk's programs and unmounts the file system, so that blocked processes end. For a disk without power,
    /// or at the end.
    func turnOff() {
        let server = self.state.withLock { state in
            defer { state.server = nil }
            return state.server
        }
        server?.signalKill()
        umount2(self.mountPoint, Int32(MNT_DETACH))
        umount2(self.path("device"), Int32(MNT_DETACH))
    }

    /// Cuts the power, from any thread: at once, or at the next write or flush if one comes soon.
    func cut() throws {
        let order = self.state.withLock { state in ["now", "flush 1", "write 1"].randomElement(using: &state.random) }
        try self.order(order ?? "now")
        for _ in 0..<20 {
            if try self.isCut { return }
            usleep(1000)
        }
        try self.order("now")
    }

    // MARK: - Orders

    var isCut: Bool { get throws { try self.order("?") } }

    /// Sends an order to the plugin, which decides the moment of the cut.
    ///
    /// - Returns: whether the power is cut.
    @discardableResult
    func order(_ order: String) throws -> Bool {
        try self.orders.withLock { _ in
            let orders = open(self.path("orders"), O_RDWR | O_CLOEXEC)
            let answers = open(self.path("answers"), O_RDWR | O_CLOEXEC)
            defer {
                close(orders)
                close(answers)
            }
            let line = Array("\(order)\n".utf8)
            var waiting = pollfd(fd: answers, events: Int16(POLLIN), revents: 0)
            var answer = [UInt8](repeating: 0, count: 4)
            guard write(orders, line, line.count) == line.count, poll(&waiting, 1, 60_000) == 1 else {
                throw FaultError("the disk answers no orders: errno \(errno)")
            }
            let count = read(answers, &answer, answer.count)
            return answer.prefix(max(0, count)).elementsEqual("off\n".utf8)
        }
    }

    func flush() async throws { try await PowerDisk.run("sync", "-f", self.mountPoint) }

    private static func run(_ words: String...) async throws {
        let result = try await ForeignProgram(words).run()
        guard result.status == 0 else { throw FaultError("\(words[0]): \(result.output) \(result.errors)") }
    }
}
