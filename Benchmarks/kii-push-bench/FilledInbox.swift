import Glibc
import KiiPushCore

/// An inbox file with many done rows, and turns of a store on a copy of this file.
final class FilledInbox {
    let rows: Int
    /// The number of turns in a run, with one message each.
    let turns: Int
    private let path: String
    private let copy: String
    private let payload: [UInt8]
    private var installation: Int64 = 0
    /// Rows of the previous turn; this turn stores their verdicts.
    private var inHand: [Int64] = []
    private var now = Timestamp.now()

    init(_ bench: Workbench, rows: Int, payload: [UInt8]) throws {
        self.rows = rows
        self.turns = bench.scaled(500)
        self.path = bench.program("inbox-\(rows).sqlite")
        self.copy = bench.program("inbox-copy.sqlite")
        self.payload = payload
        self.remove(self.path)
        let inbox = try self.open(self.path)
        self.installation = try inbox.transaction { transaction throws(InboxError) in
            try transaction.installation(id: "bench")
        }
        for start in stride(from: 0, to: rows, by: 10_000) {
            try inbox.transaction { transaction throws(InboxError) in
                for _ in start..<min(start + 10_000, rows) { try self.insert(in: transaction, state: .done) }
            }
        }
    }

    deinit { for path in [self.path, self.copy] { self.remove(path) } }

    var name: String { "\(self.rows) rows" }

    /// Opens an inbox that prunes no done row early.
    private func open(_ path: String) throws -> Inbox {
        var configuration = Inbox.Configuration()
        configuration.keepsDoneBytes = 1 << 40
        return try Inbox(path: path, configuration: configuration)
    }

    private func copyFile() throws {
        self.remove(self.copy)
        // `sync` writes the copy's dirty pages now. Otherwise the first checkpoint would flush them, and count as slow.
        for command in [["cp", self.path, self.copy], ["sync", self.copy]] {
            guard try ChildProcess(command).wait().succeeded else {
                throw ChildProcess.Failure(description: "cannot copy \(self.path)")
            }
        }
        self.inHand.removeAll()
    }

    /// Medians: the seconds of a turn, of opening, and of one row during an agent's start.
    func sample() throws -> Sample {
        try self.copyFile()
        let begin = monotonicSeconds()
        let inbox = try self.open(self.copy)
        let opened = monotonicSeconds()
        _ = try inbox.unproven()
        let looked = monotonicSeconds()
        let before = processTimes(of: getpid())
        let single = try (0..<self.turns).map { _ in try self.turn(1, in: inbox).seconds }
        let (seconds, after, turns) = (monotonicSeconds() - looked, processTimes(of: getpid()), Double(self.turns))
        let grouped = try (0..<max(self.turns / 10, 1)).map { _ in try self.turn(256, in: inbox).seconds }
        return [
            "opening": opened - begin, "unproven": (looked - opened) / Double(self.rows),
            "single": Figure(single).median, "grouped": Figure(grouped).median,
            "rate": turns / seconds, "wall": seconds,
            "user": (after.user - before.user) / turns, "system": (after.system - before.system) / turns,
        ]
    }

    /// Advances the clock by two days, and takes turns until all earlier rows are pruned.
    func prune() throws -> Sample {
        try self.copyFile()
        let inbox = try self.open(self.copy)
        self.now = self.now + .seconds(2 * 24 * 3600)
        var times: [Double] = []
        while times.count < 100_000 {
            let (seconds, isMoreToDo) = try self.turn(1, in: inbox)
            times.append(seconds)
            guard isMoreToDo else { break }
        }
        return ["p50": Figure(times).median, "longest": times.max() ?? .nan, "turns": Double(times.count)]
    }

    /// The seconds of one turn that stores `count` messages and as many verdicts.
    private func turn(_ count: Int, in inbox: Inbox) throws -> (seconds: Double, isMoreToDo: Bool) {
        let begin = monotonicSeconds()
        let wait = try inbox.transaction { transaction throws(InboxError) in
            for sequence in self.inHand {
                let change = MessageChange(
                    sequence: sequence, installation: self.installation, verdict: .done(.newData))
                try transaction.update(change, at: TurnClock(now: self.now, instant: .now()))
            }
            self.inHand.removeAll()
            for _ in 0..<count { self.inHand.append(try self.insert(in: transaction, state: .inHand)) }
            return try inbox.prune(now: self.now, in: transaction)
        }
        return (monotonicSeconds() - begin, wait == .zero)
    }

    @discardableResult
    private func insert(in transaction: InboxTransaction, state: RowState) throws(InboxError) -> Int64 {
        let row = StoredMessage(
            installation: self.installation,
            topic: Workbench.topic,
            payload: self.payload,
            packetID: 1,
            receivedAt: self.now,
            state: state
        )
        return try transaction.insert(row)
    }

    private func remove(_ path: String) { for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) } }
}
