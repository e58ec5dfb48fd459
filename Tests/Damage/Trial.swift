import Foundation
import Glibc
import KiiPushCore
import TestSupport

struct Trial {
    let past: Past
    let damage: Damage
    /// The state directory; the next trial may reuse it.
    let directory: String

    private static let further = 3
    /// Pages that SQLite may cache. With its default of 500 pages it would not read the damaged page again.
    private static let cachedPages: UInt8 = 10
    /// A small limit, so that agents read more messages after the damage.
    static let messagesInMemory = 64

    func play() async throws -> Finding {
        let record = TrialRecord()
        var files = self.past.files(at: self.damage.moment)
        let isOpen = self.damage.moment == .whileOpen
        if isOpen { files.suggestCache(ofPages: Self.cachedPages) }
        var damaged = files
        self.damage.apply(to: &damaged, older: self.past.older.files.database)
        if isOpen {
            try files.write(to: self.directory)
            let file = try OpenFile(self.directory + "/" + InboxFiles.name)
            _ = try await self.receive(into: record) { [damaged] in try file.write(damaged.database) }
            // Close the file only now, because that releases SQLite's locks in this process.
            withExtendedLifetime(file) {}
        } else {
            try damaged.write(to: self.directory)
            record.isSeen = self.isSeenDamaged
        }
        // The next process finds damage that the previous one did not reach.
        let end = try await self.receive(into: record, bringsMore: !isOpen)
        return Finding(self.damage, of: self.past, further: Self.further, record: record, end: end)
    }

    /// Registers the receivers as agents of the state directory. Only the first may have a broker.
    private func register(with broker: FakeBroker?) throws {
        let nobody = try Loopback.bound()
        defer { close(nobody.descriptor) }
        for (index, receiver) in self.past.receivers.enumerated() {
            try receiver.register(in: self.directory, port: index == 0 ? broker?.port ?? nobody.port : nobody.port)
        }
    }

    private var isSeenDamaged: Bool {
        do throws(InboxAccessError) {
            try InboxReader(stateDirectory: self.directory).verify()
            return false
        } catch {
            if case .damaged = error { return true }
            return false
        }
    }

    /// Runs the agents until they have delivered everything, including a few new messages.
    ///
    /// - Parameter damage: called while the inbox is open, before the agents start.
    private func receive(
        into record: TrialRecord, bringsMore: Bool = true, damage: (() throws -> Void)? = nil
    ) async throws -> TrialEnd {
        var settings = PushRuntime.Configuration.patient(stateDirectory: self.directory)
        settings.concurrentHandlers = 2
        settings.bounds.messagesInMemory = Self.messagesInMemory
        let runtime = try PushRuntime(configuration: settings)
        record.lostAtOpening = try await runtime.ledger().lost
        try damage?()
        let broker = bringsMore ? try FakeBroker() : nil
        try self.register(with: broker)
        record.beginRun()
        let agents = self.past.receivers.map { receiver in
            let agent = receiver.agent(on: runtime, TrialHandler(record: record), RecordingPresenter())
            agent.observe { record.note($0, of: receiver.name) }
            return agent
        }
        let (topic, last) = (self.past.receivers[0].name, self.past.acknowledged)
        let isOpen = damage != nil
        let connection = Locked<FakeConnection?>(nil)
        let lettersFound = Locked<[MessageRecord]>([])
        try await whileAllRun(agents[...]) {
            if let broker {
                let numbers = last + 1...last + Self.further
                let opened = try await broker.bring(
                    numbers.map { PastMessages.packet($0, topic: topic, fate: .done, isLarge: false) })
                connection.withLock { $0 = opened }
            }
            // Reading the dead letters may find further damage.
            var letters: [MessageRecord] = []
            var ledger: MessageLedger
            repeat {
                try await self.waitForEnd(of: runtime, record, isOpen: isOpen)
                ledger = try await runtime.ledger()
                letters = try await runtime.deadLetters().all()
            } while try await runtime.ledger() != ledger
            let found = letters
            lettersFound.withLock { $0 = found }
        }
        let ledger = try await runtime.ledger()
        await runtime.shutdown()
        return try TrialEnd(ledger: ledger, letters: lettersFound.withLock { $0 }, of: self)
    }

    /// - Parameter isOpen: Whether the file was damaged while it was open. An older page may then hide messages until
    ///   the next process reads the file, so the end is also reached after 100 polls without a change.
    private func waitForEnd(of runtime: PushRuntime, _ record: TrialRecord, isOpen: Bool) async throws {
        var (last, looks): (MessageLedger?, Int) = (nil, 0)
        while try await !self.isAtEnd(runtime, record) {
            let ledger = try await runtime.ledger()
            (last, looks) = (ledger, ledger == last ? looks + 1 : 0)
            if isOpen, looks == 100 { return }
            // The limit is a number of polls, because each poll takes longer on a busy machine.
            guard looks < 50_000 else {
                throw TestFailure("\(self.damage): nothing happens, and messages wait: \(ledger)")
            }
        }
    }

    private func isAtEnd(_ runtime: PushRuntime, _ record: TrialRecord) async throws -> Bool {
        let before = try await runtime.ledger()
        // The messages are only read once two ledgers in a row are equal.
        let now = try await runtime.ledger()
        guard record.connecting == self.past.receivers.count, now == before else { return false }
        // The file is missing while the inbox replaces it.
        guard let open = try? OpenMessages([.waiting, .running, .retry], of: self), !open.isAwaited else {
            return false
        }
        let end = try await runtime.ledger()
        return end == before
    }
}

private struct OpenMessages {
    var messageIDs: Set<Int64> = []
    /// Whether an agent that runs has to handle one of them.
    var isAwaited = false

    init(_ standings: Set<MessageRecord.Standing>, of trial: Trial) throws(InboxAccessError) {
        let reader = try InboxReader(stateDirectory: trial.directory)
        let installations = Set(trial.past.receivers.map(\.installationID))
        var records: [MessageRecord] = []
        do throws(InboxAccessError) {
            records = try reader.messages(standings, limit: 10_000)
        } catch {
            guard case .damaged = error else { throw error }
            for (messageID, message) in trial.past.snapshot(at: trial.damage.moment).messages {
                do throws(InboxAccessError) {
                    let record = try reader.trace(of: messageID)
                    if standings.contains(record.state.standing) { records.append(record) }
                } catch .removed {
                    continue
                } catch .damaged where trial.past.strandedMessages.contains(message.number) {
                    // No agent reads the payload of a message for a receiver that no longer runs, so no agent finds
                    // its damage.
                    if message.standing.map(standings.contains) ?? false { self.messageIDs.insert(messageID) }
                }
            }
        }
        self.messageIDs.formUnion(records.map(\.messageID))
        self.isAwaited = records.contains { $0.installationID.map(installations.contains) ?? false }
    }
}

struct TrialEnd {
    let ledger: MessageLedger
    let letters: [MessageRecord]
    let open: Set<Int64>
    let problems: [String]

    fileprivate init(ledger: MessageLedger, letters: [MessageRecord], of trial: Trial) throws {
        var problems = try LedgerAudit.problems(inStateDirectory: trial.directory)
        do {
            try InboxReader(stateDirectory: trial.directory).verify()
        } catch {
            problems.append("still damaged: \(error)")
        }
        let open = try OpenMessages([.waiting, .running, .retry, .presented], of: trial).messageIDs
        (self.ledger, self.letters, self.open, self.problems) = (ledger, letters, open, problems)
    }
}

extension MessageRecord.State {
    var standing: MessageRecord.Standing {
        switch self {
        case .waiting: .waiting
        case .running: .running
        case .waitingForRetry: .retry
        case .presented: .presented
        case .done: .done
        case .dead: .dead
        }
    }
}

private final class OpenFile {
    private let descriptor: Int32

    init(_ path: String) throws {
        self.descriptor = open(path, O_WRONLY | O_CLOEXEC)
        guard self.descriptor >= 0 else { throw TestFailure("cannot open \(path)") }
    }

    deinit { close(self.descriptor) }

    func write(_ bytes: Data) throws {
        let count = bytes.withUnsafeBytes { pwrite(self.descriptor, $0.baseAddress, $0.count, 0) }
        guard count == bytes.count, ftruncate(self.descriptor, off_t(count)) == 0 else {
            throw TestFailure("cannot write to an open file")
        }
    }
}
