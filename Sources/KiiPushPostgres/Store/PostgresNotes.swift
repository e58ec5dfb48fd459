#if Postgres
import KiiPushCore

struct MessageNumbers {
    private static let blockSize: Int64 = 65_536
    /// With fewer numbers left, a turn reserves another block of message numbers.
    private static let reserve = 32_768

    private var ranges: [Range<Int64>] = []
    /// The number that ``next()`` returned last; 0 if it has returned none.
    private(set) var last: Int64 = 0

    var left: Int { self.ranges.reduce(0) { $0 + $1.count } }
    var isLow: Bool { self.left < MessageNumbers.reserve }

    /// Drops all reserved numbers and uses this block. An installation's message numbers must rise even after another
    /// gateway has used higher numbers.
    mutating func begin(block: Int64) {
        self.ranges = []
        self.add(block: block)
    }

    mutating func add(block: Int64) { self.ranges.append(block..<block + MessageNumbers.blockSize) }

    mutating func next() -> Int64? {
        while let first = self.ranges.first {
            if let number = first.first {
                self.ranges[0] = (number + 1)..<first.upperBound
                self.last = number
                return number
            }
            self.ranges.removeFirst()
        }
        return nil
    }
}

struct KnownInstallations {
    private struct Entry {
        var shard: Int64
        var agent: String
        var pendingBytes: Int64
    }

    private var entries: [Int64: Entry] = [:]
    private(set) var pendingBytes: Int64 = 0

    mutating func know(_ key: Int64, shard: Int64, agent: String, pendingBytes: Int64) {
        self.pendingBytes += pendingBytes - (self.entries[key]?.pendingBytes ?? 0)
        self.entries[key] = Entry(shard: shard, agent: agent, pendingBytes: pendingBytes)
    }

    mutating func refresh(_ pendingBytes: [Int64: Int64]) {
        for (key, entry) in self.entries {
            self.know(key, shard: entry.shard, agent: entry.agent, pendingBytes: pendingBytes[key] ?? 0)
        }
    }

    mutating func moved(_ bytes: Int64, of key: Int64, from former: RowState?, to state: RowState?) {
        let (wasPending, isPending) = (former?.isPending ?? false, state?.isPending ?? false)
        guard wasPending != isPending, self.entries[key] != nil else { return }
        let change = isPending ? bytes : -bytes
        self.entries[key]?.pendingBytes += change
        self.pendingBytes += change
    }

    mutating func forget(_ keys: Set<Int64>) {
        for key in keys {
            guard let entry = self.entries.removeValue(forKey: key) else { continue }
            self.pendingBytes -= entry.pendingBytes
        }
    }

    func keys(in shards: Set<Int64>) -> Set<Int64> {
        Set(self.entries.filter { shards.contains($0.value.shard) }.keys)
    }

    func keys(of agent: String) -> Set<Int64> { Set(self.entries.filter { $0.value.agent == agent }.keys) }
    func agent(of key: Int64) -> String { self.entries[key]?.agent ?? "" }

    func knows(_ key: Int64) -> Bool { self.entries[key] != nil }

    func pendingBytes(besides keys: Set<Int64>) -> Int64 {
        self.entries.reduce(0) { keys.contains($1.key) ? $0 : $0 + $1.value.pendingBytes }
    }
}

extension RowState {
    var isPending: Bool { self == .waiting || self == .inHand || self == .retry }
}
#endif
