import Foundation
import KiiPushCore
import TestSupport

extension Past {
    /// Lets agents receive messages in three parts. Each part is a process with a clean end. In the third part the
    /// files are also copied as a kill would leave them. The messages fill several pages of each kind that SQLite has.
    ///
    /// - Parameters:
    ///   - pageBytes: the length of a page, a power of two of at least 512. Smaller pages make deeper trees. Default:
    /// SQLite's.
    ///   - directory: a directory for the files, which may be removed afterwards.
    package static func make(pageBytes: Int? = nil, in directory: String) async throws -> Past {
        let (state, killed, look) = (directory + "/state", directory + "/killed", directory + "/look")
        for path in [state, killed, look] {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        if let pageBytes {
            try SQLiteFile(state + "/" + InboxFiles.name, for: .creating).execute(
                "PRAGMA page_size = \(pageBytes); PRAGMA auto_vacuum = INCREMENTAL; VACUUM")
        }
        let receivers = [PastReceiver("one"), PastReceiver("two", shows: true)]
        let stranded = PastReceiver("stranded", hasLargePayloads: false)
        // The last page of the older copy needs messages that are settled later.
        var writer = PastWriter(state: state, receivers: [stranded] + receivers)
        try await writer.receive([60, 480, 120])
        let strandedMessages = Set(1...60)
        let older = try writer.snapshot(try InboxFiles(in: state), in: look)
        try await writer.receive([0, 240, 60])
        let beforeLog = try writer.snapshot(try InboxFiles(in: state), in: look)
        try await writer.receive([0, 60, 15], copyingInto: killed)
        let stopped = try InboxFiles(in: state)
        // Within a second of its last commit, a killed process has written the same mark.
        try stopped.mark.write(to: URL(filePath: killed + "/inbox.sqlite-mark"))
        return Past(
            older: older, beforeLog: beforeLog, killed: try writer.snapshot(try InboxFiles(in: killed), in: look),
            stopped: try writer.snapshot(stopped, in: look), acknowledged: writer.sent, receivers: receivers,
            strandedMessages: strandedMessages)
    }
}

private struct PastWriter {
    let state: String
    let receivers: [PastReceiver]
    private(set) var sent = 0
    private var part = 0
    private var fates: [[Int: Fate]]
    private var suspects: Set<Int> = []
    private var messages: [Int64: Past.Message] = [:]

    init(state: String, receivers: [PastReceiver]) {
        self.state = state
        self.receivers = receivers
        self.fates = receivers.map { _ in [:] }
    }

    private struct Share {
        var broker: FakeBroker
        var packets: [MQTTPacket]
        var handler: PastHandler
        var failing: Set<Int>
    }

    /// Runs one process until this number of messages has been acknowledged and handled.
    ///
    /// - Parameters:
    ///   - counts: numbers of messages, by receiver. A receiver with 0 does not run.
    ///   - copy: a directory for a copy of the files before the process ends.
    mutating func receive(_ counts: [Int], copyingInto copy: String? = nil) async throws {
        var settings = PushRuntime.Configuration.patient(stateDirectory: self.state)
        settings.retryDelays = [.seconds(7 * 24 * 3600)]
        settings.bounds.messagesInMemory = 16
        settings.shutdownGrace = .zero
        let runtime = try PushRuntime(configuration: settings)
        var agents: [PushAgent] = []
        var shares: [Share] = []
        let running = self.receivers.indices.filter { counts[$0] > 0 }
        for index in running {
            let share = try self.share(of: index, messages: counts[index])
            try self.receivers[index].register(in: self.state, port: share.broker.port)
            agents.append(self.receivers[index].agent(on: runtime, share.handler, RecordingPresenter()))
            shares.append(share)
        }
        let (state, decisions) = (self.state, self.decide(for: running))
        // Closed only after the agents have stopped, since they would reconnect.
        let connections = Locked<[FakeConnection]>([])
        try await whileAllRun(agents[...]) { [ends, shares] in
            for (messageID, fate) in decisions {
                _ = try await fate == .dropped ? runtime.drop(messageID) : runtime.retry(messageID)
            }
            for share in shares {
                let connection = try await share.broker.bring(share.packets)
                connections.withLock { $0.append(connection) }
            }
            while true {
                let ledger = try await runtime.ledger()
                let isDone = (ledger.done, ledger.dead, ledger.presented) == ends
                if isDone, shares.allSatisfy({ $0.handler.failed.isSuperset(of: $0.failing) }) { break }
            }
            // The ledger's answer comes after the failures are written.
            _ = try await runtime.ledger()
            if let copy { try await Self.copy(state, into: copy) }
        }
        await runtime.shutdown()
        let inHand = try InboxReader(stateDirectory: state).messages([.running], limit: 1000)
        self.suspects = Set(inHand.compactMap { PastMessages.number(in: $0.payload) })
    }

    private mutating func decide(for receivers: [Int]) -> [(Int64, Fate)] {
        defer { self.part += 1 }
        var decisions: [(Int64, Fate)] = []
        for (messageID, message) in self.messages.sorted(by: { $0.key < $1.key }) {
            for index in receivers {
                guard let fate = self.fates[index][message.number]?.decided(message.number, in: self.part) else {
                    continue
                }
                self.fates[index][message.number] = fate
                decisions.append((messageID, fate))
            }
        }
        return decisions
    }

    private mutating func share(of index: Int, messages: Int) throws -> Share {
        let receiver = self.receivers[index]
        let numbers = self.sent + 1...self.sent + messages
        self.sent = numbers.upperBound
        let suspects = self.suspects.intersection(self.fates[index].keys)
        var failing = suspects
        for number in numbers {
            let fate = Fate(number, shows: receiver.shows)
            self.fates[index][number] = fate
            if fate == .retry { failing.insert(number) }
        }
        return Share(
            broker: try FakeBroker(),
            packets: numbers.map(receiver.packet),
            handler: PastHandler(shows: receiver.shows, from: numbers.lowerBound, suspects: suspects), failing: failing)
    }

    private var ends: (done: Int64, dead: Int64, presented: Int64) {
        let fates = self.fates.flatMap(\.values)
        return (
            Int64(fates.count { $0 == .done }), Int64(fates.count { $0 == .rejected || $0 == .undecodable }),
            Int64(fates.count { $0 == .presented })
        )
    }

    /// Copies in another process: if this process opened and closed the files, it would release SQLite's locks.
    private static func copy(_ state: String, into copy: String) async throws {
        for suffix in ["", InboxFiles.logSuffix] {
            let name = InboxFiles.name + suffix
            let status = try await ForeignProgram("cp", "\(state)/\(name)", "\(copy)/\(name)").run().status
            guard status == 0 else { throw TestFailure("cannot copy \(name)") }
        }
    }

    /// Reads a copy of the files, and checks that it holds all acknowledged messages.
    mutating func snapshot(_ files: InboxFiles, in directory: String) throws -> Past.Snapshot {
        try files.write(to: directory)
        for messageID in self.messages.keys { self.messages[messageID]?.standing = nil }
        for message in try InboxReader(stateDirectory: directory).messages(limit: 10_000) {
            guard let number = PastMessages.number(in: message.payload) else { throw TestFailure("no number") }
            self.messages[message.messageID] = Past.Message(
                number: number, standing: message.state.standing,
                payload: String(decoding: message.payload, as: UTF8.self))
        }
        let dropped = self.fates.flatMap(\.values).count { $0 == .dropped }
        let found = (self.messages.count, self.messages.values.count { $0.standing == nil })
        guard Set(self.messages.values.map(\.number)) == Set(1...self.sent), found == (self.sent, dropped) else {
            throw TestFailure("\(found) instead of \(self.sent) messages, \(dropped) of them dropped")
        }
        return Past.Snapshot(files: files, messages: self.messages)
    }
}

func whileAllRun(
    _ agents: ArraySlice<PushAgent>, _ body: @escaping @Sendable () async throws -> Void
) async throws {
    guard let first = agents.first else { return try await body() }
    try await whileRunning(first) { try await whileAllRun(agents.dropFirst(), body) }
}
