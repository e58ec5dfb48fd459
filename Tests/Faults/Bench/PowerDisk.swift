import Foundation
import Glibc
import KiiPushCore
import SeededNumbers
import TestSupport

/// A disk with ext4 on it whose power can be cut. It forgets a random part of what was written and not flushed, then.
///
/// The file system is on a loop device; the file below that is nbdfuse's, which asks nbdkit, whose plugin is
/// `Tests/PowerDisk/forgetful.c`. All of it ends when the power is cut, and begins anew with what was not forgotten.
final class PowerDisk: Sendable {
    private struct State {
        var random: SeededGenerator
        var server: ReceiverProcess?
        var cuts = 0
    }

    // Room for one log of SQLite's that is a megabyte long, and for ten times as much beside it.
    private static let bytes = 24 << 20
    /// The disk's last block takes orders; the file system does not know of it.
    private static let orderBytes = 4096

    private let mountPoint: String
    /// What holds the content, the device's file, and what else belongs to the disk.
    private let folder: String
    private let state: Locked<State>

    private var device: String { "\(self.folder)/device" }
    private var content: String { "\(self.folder)/content" }
    private var cutSign: String { "\(self.folder)/cut" }

    /// Makes the disk, and mounts what is on it.
    ///
    /// - Throws: ``LeftOut`` where that cannot be done here.
    init(at mountPoint: String, in directory: String, seed: UInt64) async throws {
        self.mountPoint = mountPoint
        self.folder = "\(directory)/power-disk"
        self.state = Locked(State(random: SeededGenerator(seed: seed)))
        guard FaultBench.canMount else { throw LeftOut("only root can mount its disk") }
        guard access(PowerDisk.plugin, R_OK) == 0 else {
            throw LeftOut("there is no \(PowerDisk.plugin), which script/faults compiles")
        }
        do throws(any Error) {
            for folder in [mountPoint, self.folder] { try PrivateFile.makeDirectory(folder) }
            for file in [self.device, self.content] { try OwnFile.replace(file, with: []) }
            truncate(self.content, PowerDisk.bytes - PowerDisk.orderBytes)
            try await PowerDisk.run("mkfs.ext4", "-q", "-F", "-b", "4096", "-E", "nodiscard", self.content)
            truncate(self.content, PowerDisk.bytes)
            try await self.turnOn()
        } catch {
            self.turnOff()
            throw LeftOut("its disk cannot be made: \(error)")
        }
    }

    private static let plugin = productsDirectory.appendingPathComponent("forgetful.so").path

    /// How often the power was cut.
    var cuts: Int { self.state.withLock { $0.cuts } }

    /// Whether it has no power.
    var isCut: Bool { access(self.cutSign, F_OK) == 0 }

    /// Has the power cut at the moment that `order` names; see the plugin.
    func order(_ order: String) throws {
        let file = open(self.device, O_WRONLY | O_CLOEXEC)
        defer { close(file) }
        let bytes = Array(order.utf8)
        guard pwrite(file, bytes, bytes.count, PowerDisk.bytes - PowerDisk.orderBytes) == bytes.count else {
            throw FaultError("\(self.device) takes no orders: errno \(errno)")
        }
    }

    /// Cuts the power from any thread: at once, or at the next write or flush if there is one within 50 ms.
    func cut() {
        let order = self.state.withLock { state in ["now", "flush 1", "write 1"].randomElement(using: &state.random) }
        guard !self.isCut, let order else { return }
        // What takes no orders has no power.
        try? self.order(order)
        for _ in 0..<500 where !self.isCut { usleep(100) }
        try? self.order("now")
    }

    /// Ends what the disk consists of, and what waits for it. To be called when the power was cut, or at the end.
    func turnOff() {
        let server = self.state.withLock { state in
            defer { state.server = nil }
            return state.server
        }
        server?.signalKill()
        umount2(self.mountPoint, Int32(MNT_DETACH))
        umount2(self.device, Int32(MNT_DETACH))
    }

    /// Mounts what is left.
    func turnOn() async throws {
        let (wasCut, ready) = (self.isCut, "\(self.folder)/ready")
        for path in [self.cutSign, ready] { unlink(path) }
        let seed = self.state.withLock { state in
            if wasCut { state.cuts += 1 }
            return state.random.next()
        }
        let server = ReceiverProcess(
            program: "nbdfuse",
            arguments: [
                "-P", ready, self.device, "--command", "nbdkit", "-s", PowerDisk.plugin, "content=\(self.content)",
                "cut=\(self.cutSign)", "seed=\(seed)",
            ], environment: [:], output: "\(self.folder)/output")
        try server.start()
        self.state.withLock { $0.server = server }
        while access(ready, F_OK) != 0 {
            guard server.isRunning else { throw FaultError("nbdfuse has ended: \(server.lastWords)") }
            try await Task.sleep(for: .milliseconds(1))
        }
        try await PowerDisk.run("mount", "-o", "loop,noatime", self.device, self.mountPoint)
    }

    /// Has all that was written until now flushed.
    func flush() async throws { try await PowerDisk.run("sync", "-f", self.mountPoint) }

    private static func run(_ words: String...) async throws {
        let result = try await ForeignProgram(words).run()
        guard result.status == 0 else { throw FaultError("\(words[0]): \(result.errors)") }
    }
}
