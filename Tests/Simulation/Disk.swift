import Glibc
import KiiPushCore
import SimulatedDisk

final class Disk {
    typealias Alarm = () -> Void

    let directory: String
    private let raw: OpaquePointer
    private var alarm: Alarm?
    private var snapshot: [(name: String, bytes: [UInt8])]?
    private let capacity: Int64

    /// - Parameter directory: an empty directory, preferably in memory.
    init?(_ directory: String, seed: UInt64, capacity: Int64) {
        guard let raw = simulated_disk_create(seed) else { return nil }
        self.raw = raw
        self.directory = directory
        self.capacity = capacity
        simulated_disk_set_capacity(raw, capacity)
        simulated_disk_use(raw)
    }

    deinit { simulated_disk_destroy(self.raw) }

    func clear() {
        simulated_disk_use(nil)
        for name in self.names + ["inbox.sqlite-shm"] { unlink("\(self.directory)/\(name)") }
    }

    /// Bytes that SQLite may still write. The inbox's reserve file counts as used.
    var free: Int64 {
        var status = stat()
        let path = "\(self.directory)/inbox.sqlite-reserve"
        simulated_disk_set_reserved(self.raw, stat(path, &status) == 0 ? Int64(status.st_size) : 0)
        return simulated_disk_free(self.raw)
    }

    /// Writes an inbox without messages, as a previous agent leaves it. Creating one takes as long as twenty messages.
    func putEmptyInbox() {
        simulated_disk_use(nil)
        defer { simulated_disk_use(self.raw) }
        Disk.write(Disk.emptyInbox, to: "\(self.directory)/inbox.sqlite")
    }

    private static let emptyInbox: [UInt8] = {
        var template = Array("/tmp/kii-push-inbox-XXXXXX".utf8CString)
        guard let directory = mkdtemp(&template).map({ String(cString: $0) }) else { return [] }
        defer { rmdir(directory) }
        let path = "\(directory)/inbox.sqlite"
        defer { unlink(path) }
        _ = try? Inbox(path: path)
        return Disk.contents(path)
    }()

    // MARK: - Faults

    func setFull(_ isFull: Bool) {
        let used = self.capacity - self.free
        simulated_disk_set_capacity(self.raw, isFull ? max(1, used) : self.capacity)
    }

    func setFailures(writes: UInt32, flushes: UInt32, reads: UInt32) {
        simulated_disk_set_failures(self.raw, writes, flushes, reads)
    }

    /// Calls `alarm` in place of a later operation: `operations` is the number of operations until then.
    func setAlarm(operations: Int, _ alarm: @escaping Alarm) {
        self.alarm = alarm
        simulated_disk_set_alarm(
            self.raw, simulated_disk_operations(self.raw) + UInt64(operations),
            { context in
                guard let context else { return }
                Unmanaged<Disk>.fromOpaque(context).takeUnretainedValue().alarm?()
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    func removeAlarm() {
        self.alarm = nil
        simulated_disk_set_alarm(self.raw, 0, nil, nil)
    }

    /// The process is dead until ``revive()``.
    ///
    /// - Parameter isInOperation: Whether the process dies during an operation on the disk. Its code then still runs
    ///   for a while, and may rename and remove files.
    /// - Returns: whether the files could be put into their state after the death.
    func die(power: Bool, isInOperation: Bool) -> Bool {
        let failure = power ? simulated_disk_cut_power(self.raw) : simulated_disk_freeze(self.raw)
        if isInOperation { self.snapshot = self.names.map { ($0, Disk.contents("\(self.directory)/\($0)")) } }
        return failure == 0
    }

    func revive() {
        if let snapshot {
            for name in self.names where !snapshot.contains(where: { $0.name == name }) {
                unlink("\(self.directory)/\(name)")
            }
            for (name, bytes) in snapshot { Disk.write(bytes, to: "\(self.directory)/\(name)") }
        }
        self.snapshot = nil
        simulated_disk_thaw(self.raw)
    }

    func damage(_ dice: inout Dice) {
        let path = "\(self.directory)/inbox.sqlite"
        var bytes = Disk.contents(path)
        guard bytes.count >= 4096 else { return }
        let page = dice.number(0...bytes.count / 4096 - 1) * 4096
        let isZeroed = dice.percent(50)
        for index in page..<page + 4096 { bytes[index] = isZeroed ? 0 : UInt8(truncatingIfNeeded: dice.next()) }
        Disk.write(bytes, to: path)
    }

    // MARK: - Files

    private var names: [String] {
        // SQLite creates its index of the log anew.
        (Directory.names(in: self.directory) ?? []).filter { !$0.hasSuffix("-shm") }
    }

    private static func contents(_ path: String) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return [] }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_size > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: Int(status.st_size)) { buffer, count in
            count = max(0, read(file, buffer.baseAddress, buffer.count))
        }
    }

    private static func write(_ bytes: [UInt8], to path: String) {
        let file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        defer { close(file) }
        _ = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
    }
}
