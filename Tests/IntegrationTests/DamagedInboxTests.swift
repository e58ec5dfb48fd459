import Foundation
import KiiPushCore
import TestSupport
import Testing

@Suite struct DamagedInboxTests {
    /// Blocks its first call until ``release()``.
    private final class HeldHandler: RemoteNotificationHandler {
        let (calls, continuation) = AsyncStream<Int>.makeStream()
        private let gate = DispatchSemaphore(value: 0)
        private let isFirst = Locked(true)

        func release() { self.gate.signal() }

        func didReceiveRemoteNotification(
            _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
        ) {
            let isFirst = self.isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            if isFirst { self.gate.wait() }
            completion(.newData)
            self.continuation.yield(message.rawPayload["n"]?.int64.map(Int.init) ?? -1)
        }

        func next(_ count: Int) async -> [Int] {
            var numbers: [Int] = []
            for await number in self.calls {
                numbers.append(number)
                if numbers.count == count { break }
            }
            return numbers
        }
    }

    // Each payload fills one page of the file.
    private static func payload(_ number: Int) -> [UInt8] {
        let padding = String(repeating: "x", count: 3000)
        return Array("{\"n\":\(number),\"mark\":\"mark-\(100_000 + number)\",\"pad\":\"\(padding)\"}".utf8)
    }

    private static func publish(_ number: Int) -> MQTTPacket {
        .publish(
            MQTTPublish(
                topic: "topic-1", payload: self.payload(number), qos: .atLeastOnce, packetID: UInt16(number)))
    }

    /// Overwrites the page of a message from another process. In this process, closing a descriptor of the file would
    /// release SQLite's locks.
    private static func damage(_ path: String, message number: Int) async throws {
        do {
            let file = try SQLiteFile(path, for: .changing)
            #expect(try file.integer("PRAGMA wal_checkpoint(TRUNCATE)") == 0)
        }
        let copy = path + ".copy"
        #expect(try await ForeignProgram("cp", path, copy).run().status == 0)
        let data = try Data(contentsOf: URL(filePath: copy))
        let range = try #require(data.range(of: Data("mark-\(100_000 + number)".utf8)))
        let page = range.lowerBound / 4096
        let status = try await ForeignProgram(
            "dd", "if=/dev/urandom", "of=\(path)", "bs=4096", "seek=\(page)", "count=1", "conv=notrunc", "status=none"
        ).run().status
        #expect(status == 0)
        try FileManager.default.removeItem(atPath: copy)
    }

    @Test func aFileThatIsDamagedMeanwhileIsReplacedAndTheRestGoesOn() async throws {
        let messages = 1500
        try await withTemporaryDirectory { directory in
            try await withFakeBroker(in: directory) { broker, _, configuration in
                var settings = PushRuntime.Configuration.patient(stateDirectory: directory)
                settings.bounds.messagesInMemory = 100
                // The clock stands still, so the blocked handler does not time out.
                let start = MonotonicInstant.now()
                settings.environment.clocks = Clocks(
                    monotonic: { start }, calendarNanoseconds: Clocks.machine.calendarNanoseconds)
                let runtime = try PushRuntime(configuration: settings)
                let handler = HeldHandler()
                let agent = PushAgent(runtime: runtime, configuration: configuration, handler: handler)
                let events = agent.events
                try await whileRunning(agent) {
                    let connection = try await broker.play { broker in
                        let connection = try broker.acceptSession()
                        for number in 1...messages { try connection.send(Self.publish(number)) }
                        #expect(try connection.receiveAcknowledgements(messages).count == messages)
                        return connection
                    }
                    try await Self.damage("\(directory)/inbox.sqlite", message: 700)
                    handler.release()
                    let event = await firstEvent(events) { if case .inboxMovedAside = $0 { true } else { false } }
                    guard case .inboxMovedAside(let path, let reason, let takenOver, 1)? = event else {
                        Issue.record("\(String(describing: event))")
                        return
                    }
                    #expect(path.hasPrefix("\(directory)/inbox.sqlite.damaged-"))
                    #expect(reason.contains("SQLite code 11"))
                    #expect(takenOver > 700)
                    try await broker.play { _ in
                        try connection.send(Self.publish(messages + 1))
                        #expect(
                            try connection.receiveAcknowledgements(1) == [UInt16(messages + 1)])
                    }
                    // Every other message is handled once, and so is the message that arrived after the damage.
                    let handled = await handler.next(messages)
                    #expect(handled.sorted() == (1...messages + 1).filter { $0 != 700 })
                }
                let ledger = try await runtime.ledger()
                #expect(ledger.isBalanced)
                #expect(ledger.received == Int64(messages + 1))
                #expect(ledger.done == Int64(messages))
                #expect(ledger.lost == 1)
                await runtime.shutdown()
            }
        }
    }

    @Test func theAttemptsBeforeTheDamageCountAfterwards() async throws {
        try await withTemporaryDirectory { directory in
            try await withFakeBroker(in: directory) { broker, first, configuration in
                let made = Locked(0)
                let failing = RecordingHandler { call in
                    made.withLock { $0 = max($0, call.context.attempt) }
                    return .failed
                }
                let before = PushAgent(
                    runtime: first, configuration: configuration, handler: failing, reconnect: .quick)
                try await whileRunning(before) {
                    let connection = try await broker.bring([.message(1, packetID: 1)])
                    _ = await failing.next(2)
                    withExtendedLifetime(connection) {}
                }
                await first.shutdown()
                let path = "\(directory)/inbox.sqlite"
                #expect(try SQLiteFile(path, for: .changing).integer("PRAGMA wal_checkpoint(TRUNCATE)") == 0)
                // SQLite reads no row without the file's first page.
                let file = try FileHandle(forWritingTo: URL(filePath: path))
                try file.write(contentsOf: Data(repeating: 0xA5, count: 4096))
                try file.close()
                let second = try PushRuntime(configuration: .patient(stateDirectory: directory))
                let handler = RecordingHandler()
                let agent = PushAgent(
                    runtime: second, configuration: configuration, handler: handler, reconnect: .quick)
                let events = agent.events
                try await whileRunning(agent) {
                    let connection = try await broker.play { try $0.acceptSession() }
                    _ = await firstEvent(events) { if case .inboxMovedAside = $0 { true } else { false } }
                    let call = await handler.next(1).first
                    #expect(call?.message.rawPayload["n"]?.int64 == 1)
                    #expect(call?.context.attempt == made.withLock { $0 } + 1)
                    withExtendedLifetime(connection) {}
                }
                await second.shutdown()
            }
        }
    }

    @Test func rowsThatCannotBeReadBackHoldUpNothingElse() async throws {
        try await withFakeBroker { broker, runtime, configuration in
            let path = "\(runtime.configuration.stateDirectory)/inbox.sqlite"
            let handler = RecordingHandler()
            let agent = PushAgent(
                runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick)
            let before = agent.events
            try await whileRunning(agent) {
                _ = try await broker.play { try $0.acceptSession() }
                _ = await firstEvent(before) { if case .connected = $0 { true } else { false } }
            }
            // Only reading or changing rows needs this column; inserting does not.
            try SQLiteFile(path, for: .changing).execute("ALTER TABLE message RENAME COLUMN crashes TO hidden")
            let events = agent.events
            try await whileRunning(agent) {
                let event = await firstEvent(events) { if case .trouble(.reading, _) = $0 { true } else { false } }
                guard case .trouble(.reading, let reason)? = event else { return }
                #expect(reason.contains("reading messages"))
                let connection = try await broker.bring([.message(1, packetID: 1)])
                try SQLiteFile(path, for: .changing).execute("ALTER TABLE message RENAME COLUMN hidden TO crashes")
                _ = await firstEvent(events) { if case .recovered(.reading) = $0 { true } else { false } }
                #expect(await handler.next(1).first?.message.rawPayload["n"]?.int64 == 1)
                withExtendedLifetime(connection) {}
            }
        }
    }

    @Test func anInboxOfANewerVersionIsRefusedAndLeftAlone() async throws {
        try await withFakeBroker { _, runtime, configuration in
            let path = "\(runtime.configuration.stateDirectory)/inbox.sqlite"
            do {
                _ = try Inbox(path: path)
                try SQLiteFile(path, for: .changing).execute("PRAGMA user_version = 99")
            }
            let before = try Data(contentsOf: URL(filePath: path))
            let agent = PushAgent(runtime: runtime, configuration: configuration, handler: RecordingHandler())
            let error = await #expect(throws: PushAgentError.self) { try await agent.run() }
            guard case .inboxOfNewerVersion(path, 99) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(
                error?.description == "\(path) was written by a newer version (format 99); use that version, "
                    + "or another state directory")
            #expect(try Data(contentsOf: URL(filePath: path)) == before)
        }
    }
}
