import Foundation
import KiiPushCore
import TestSupport
import Testing

/// Every acknowledged message is handled, waits, is a dead letter, or is reported as lost, whatever happened to the
/// inbox's files.
@Suite struct LostMessagesTests {
    private static let messages = 60

    private struct Case: CustomTestStringConvertible, Sendable {
        var damage: InboxDamage
        var isKilled: Bool

        var testDescription: String { "\(self.damage.rawValue) after a \(self.isKilled ? "kill" : "clean stop")" }
    }

    private static let cases =
        InboxDamage.allCases.filter { !$0.needsLog }.map { Case(damage: $0, isKilled: false) }
        + InboxDamage.allCases.map { Case(damage: $0, isKilled: true) }

    @Test(arguments: cases) private func isToldAndAddsUp(_ played: Case) async throws {
        try await withTemporaryDirectory { directory in
            let state = directory + "/state"
            try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: false)
            try await withFakeBroker(in: state, configure: { $0.retryDelays = [.seconds(7 * 24 * 3600)] }) {
                broker, runtime, configuration in
                try await Self.receive(broker, runtime, configuration, killedInto: played.isKilled ? directory : nil)
                try played.damage.apply(to: state + "/inbox.sqlite", at: "mark-1030")
                try Self.expectUnsound(state)
                // In a file of this size, the damaged pages contain no message.
                let losesNothing: [InboxDamage] = [.emptiedWithLog, .removedWithLog, .pages2To6]
                try await Self.expectAllAccountedFor(
                    state, configuration, losesNothing: losesNothing.contains(played.damage))
            }
        }
    }

    /// Makes the agent acknowledge all messages and fail their first attempts, so that each waits for its retry.
    ///
    /// - Parameter copy: a directory for a copy of the files as a killed process leaves them. The copy replaces the
    ///   files that the stop leaves.
    private static func receive(
        _ broker: FakeBroker, _ runtime: PushRuntime, _ configuration: PushAgent.Configuration,
        killedInto copy: String?
    ) async throws {
        let path = runtime.configuration.stateDirectory + "/inbox.sqlite"
        let agent = PushAgent(
            runtime: runtime, configuration: configuration, handler: RecordingHandler { _ in .failed })
        let events = agent.events
        try await whileRunning(agent) {
            let connection = try await broker.bring((1...Self.messages).map { Self.publish($0) })
            var waiting: Set<Int64> = []
            for await event in events {
                if case .message(let message) = event, case .failed = message.kind { waiting.insert(message.messageID) }
                if waiting.count == Self.messages { break }
            }
            _ = try await runtime.ledger()
            if let copy {
                // Another process copies the files, because closing a descriptor in this process would release SQLite's
                // locks.
                for suffix in ["", "-wal"] {
                    #expect(try await ForeignProgram("cp", path + suffix, "\(copy)/killed\(suffix)").run().status == 0)
                }
            }
            withExtendedLifetime(connection) {}
        }
        await runtime.shutdown()
        guard let copy else { return }
        for suffix in ["", "-wal"] {
            #expect(try await ForeignProgram("mv", "\(copy)/killed\(suffix)", path + suffix).run().status == 0)
        }
    }

    private static func publish(_ number: Int) -> MQTTPacket {
        let padding = String(repeating: "x", count: 400)
        return .publish(
            MQTTPublish(
                topic: "topic-1",
                payload: Array("{\"n\":\(number),\"mark\":\"mark-\(1000 + number)\",\"p\":\"\(padding)\"}".utf8),
                qos: .atLeastOnce, packetID: UInt16(number)))
    }

    /// Before the agent starts, ``InboxReader/verify()`` reports the damage.
    private static func expectUnsound(_ state: String) throws {
        let error = #expect(throws: InboxAccessError.self) { try InboxReader(stateDirectory: state).verify() }
        if case .damaged = error { return }
        Issue.record("\(String(describing: error))")
    }

    private static func expectAllAccountedFor(
        _ state: String, _ configuration: PushAgent.Configuration, losesNothing: Bool
    ) async throws {
        let runtime = try PushRuntime(configuration: .patient(stateDirectory: state))
        let agent = PushAgent(runtime: runtime, configuration: configuration, handler: RecordingHandler())
        let events = agent.events
        let before = try await runtime.ledger()
        #expect(before.isBalanced)
        #expect(before.received == Int64(Self.messages))
        // A killed process may leave messages in progress.
        #expect(before.waiting + before.running + before.dead + before.lost == Int64(Self.messages))
        #expect(losesNothing == (before.lost == 0))
        // The damaged file was replaced before the agent's observers existed; they get the event now.
        try await whileRunning(agent) {
            let event = await firstEvent(events) { if case .inboxMovedAside = $0 { true } else { false } }
            guard case .inboxMovedAside(let path, _, let takenOver, let lost?)? = event else {
                Issue.record("\(String(describing: event))")
                return
            }
            #expect(lost == Int(before.lost))
            #expect(takenOver == Self.messages - lost)
            let kept = ["", "-wal", "-mark"].filter { FileManager.default.fileExists(atPath: path + $0) }
            #expect(kept.contains("-mark"), "\(kept)")
        }
        await runtime.shutdown()
        // The loss is reported only once.
        let next = try PushRuntime(configuration: .patient(stateDirectory: state))
        let later = PushAgent(runtime: next, configuration: configuration, handler: RecordingHandler())
        let told = Locked<[PushEvent]>([])
        later.observe { event in told.withLock { $0.append(event) } }
        try await whileRunning(later) { _ = try await next.ledger() }
        #expect(!told.withLock { $0 }.contains { if case .inboxMovedAside = $0 { true } else { false } })
        let after = try await next.ledger()
        #expect(after.isBalanced && after.lost == before.lost)
        await next.shutdown()
        try InboxReader(stateDirectory: state).verify()
    }

    @Test func numbersGoOnAboveTheMark() async throws {
        try await withFakeBroker { broker, runtime, configuration in
            let state = runtime.configuration.stateDirectory
            try await Self.receive(broker, runtime, configuration, killedInto: nil)
            try FileManager.default.removeItem(atPath: state + "/inbox.sqlite")
            let second = try PushRuntime(configuration: .patient(stateDirectory: state))
            let handler = RecordingHandler()
            let agent = PushAgent(runtime: second, configuration: configuration, handler: handler)
            try await whileRunning(agent) {
                let connection = try await broker.bring([.message(61, packetID: 61)])
                let call = await handler.next(1)
                #expect(call[0].context.messageID > Int64(Self.messages))
                withExtendedLifetime(connection) {}
            }
            let ledger = try await second.ledger()
            #expect(ledger.received == Int64(Self.messages) + 1)
            #expect(ledger.isBalanced)
            await second.shutdown()
        }
    }

    /// Removed done rows and dropped dead letters are no losses.
    @Test func whatWasRemovedInDueCourseRaisesNoAlarm() async throws {
        try await withTemporaryDirectory { directory in
            try await withFakeBroker(
                in: directory,
                configure: {
                    $0.bounds.handledKeptBytes = 0
                    $0.retryDelays = []
                }
            ) { broker, runtime, configuration in
                let handler = RecordingHandler { call in
                    (call.message.rawPayload["n"]?.int64 ?? 0) % 2 == 0 ? .newData : .failed
                }
                let agent = PushAgent(runtime: runtime, configuration: configuration, handler: handler)
                try await whileRunning(agent) {
                    let connection = try await broker.bring((1...Self.messages).map { Self.publish($0) })
                    _ = await handler.next(Self.messages)
                    withExtendedLifetime(connection) {}
                }
                for letter in try await runtime.deadLetters().all() {
                    #expect(try await runtime.dropDeadLetter(letter.messageID))
                }
                let half = Int64(Self.messages / 2)
                #expect(try await runtime.ledger() == MessageLedger(received: 2 * half, done: half, dropped: half))
                await runtime.shutdown()
                let reader = try InboxReader(stateDirectory: directory)
                try reader.verify()
                #expect(try reader.ledger().lost == 0)
                let next = try PushRuntime(configuration: .patient(stateDirectory: directory))
                #expect(try await next.ledger().lost == 0)
                await next.shutdown()
                #expect(
                    try FileManager.default.contentsOfDirectory(atPath: directory).filter { $0.contains("damaged") }
                        == [])
            }
        }
    }

    @Test func aFileWithoutAMarkRaisesNoAlarm() async throws {
        try await withFakeBroker { broker, runtime, configuration in
            let state = runtime.configuration.stateDirectory
            try await Self.receive(broker, runtime, configuration, killedInto: nil)
            try FileManager.default.removeItem(atPath: state + "/inbox.sqlite-mark")
            try InboxReader(stateDirectory: state).verify()
            let next = try PushRuntime(configuration: .patient(stateDirectory: state))
            #expect(try await next.ledger().waiting == Int64(Self.messages))
            await next.shutdown()
            // The runtime has written a new mark.
            #expect(FileManager.default.fileExists(atPath: state + "/inbox.sqlite-mark"))
        }
    }
}
