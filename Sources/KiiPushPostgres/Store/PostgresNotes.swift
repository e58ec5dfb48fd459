#if Postgres
import KiiPushCore

/// Numbers for messages, which rise.
struct MessageNumbers {
    private static let blockSize: Int64 = 65_536
    /// With fewer left, a turn asks for another block.
    private static let reserve = 32_768

    private var ranges: [Range<Int64>]

    init(block: Int64) { self.ranges = [block..<block + MessageNumbers.blockSize] }

    var left: Int { self.ranges.reduce(0) { $0 + $1.count } }
    var isLow: Bool { self.left < MessageNumbers.reserve }

    /// Adds the block that begins with this number.
    mutating func add(block: Int64) { self.ranges.append(block..<block + MessageNumbers.blockSize) }

    mutating func next() -> Int64? {
        while let first = self.ranges.first {
            if let number = first.first {
                self.ranges[0] = (number + 1)..<first.upperBound
                return number
            }
            self.ranges.removeFirst()
        }
        return nil
    }
}

/// The installations that were asked for: their shards, and how much waits for their handlers.
struct KnownInstallations {
    private struct Entry {
        var shard: Int64
        var pendingBytes: Int64
    }

    private var entries: [Int64: Entry] = [:]
    private(set) var pendingBytes: Int64 = 0

    mutating func know(_ key: Int64, shard: Int64, pendingBytes: Int64) {
        self.pendingBytes += pendingBytes - (self.entries[key]?.pendingBytes ?? 0)
        self.entries[key] = Entry(shard: shard, pendingBytes: pendingBytes)
    }

    mutating func add(_ bytes: Int64, to key: Int64) {
        guard self.entries[key] != nil else { return }
        self.entries[key]?.pendingBytes += bytes
        self.pendingBytes += bytes
    }

    /// Takes what the database has added up.
    mutating func refresh(_ pendingBytes: [Int64: Int64]) {
        for (key, entry) in self.entries { self.know(key, shard: entry.shard, pendingBytes: pendingBytes[key] ?? 0) }
    }

    mutating func moved(_ bytes: Int64, of key: Int64, from former: RowState?, to state: RowState?) {
        switch (former?.isPending ?? false, state?.isPending ?? false) {
        case (false, true): self.add(bytes, to: key)
        case (true, false): self.add(-bytes, to: key)
        case (true, true), (false, false): break
        }
    }

    func pendingBytes(besides keys: Set<Int64>) -> Int64 {
        self.entries.reduce(0) { keys.contains($1.key) ? $0 : $0 + $1.value.pendingBytes }
    }

    /// The shards of these installations, each once.
    func shards(of keys: some Sequence<Int64>) -> [Int64] { Array(Set(keys.compactMap { self.entries[$0]?.shard })) }
}

extension RowState {
    /// Whether it waits for a handler.
    var isPending: Bool { self == .waiting || self == .inHand || self == .retry }
}

/// Up to which rows brokers repeat none, as far as that is not written: by installation.
struct Proofs {
    private var through: [Int64: Int64] = [:]

    var isEmpty: Bool { self.through.isEmpty }

    mutating func note(_ installation: Int64, _ sequence: Int64) { self.through[installation] = sequence }
    func noted(_ installation: Int64) -> Int64? { self.through[installation] }
    mutating func take() -> [Int64: Int64] {
        defer { self.through = [:] }
        return self.through
    }

    /// They were not written. What was noted since is newer.
    mutating func putBack(_ notes: [Int64: Int64]) { self.through.merge(notes) { newer, _ in newer } }
}
#endif
