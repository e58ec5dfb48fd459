import KiiPushCore
import TestSupport
import Testing

@Suite struct DeadLetterTests {
    @Test func aDeadLetterIsTriedAgainByTheRunningAgentOrDropped() async throws {
        try await withFakeBroker { broker, runtime, configuration in
            let handler = RefusingHandler()
            let agent = PushAgent(runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick)
            let events = agent.events
            let begin = Timestamp.now()
            try await whileRunning(agent) {
                let kept = try await broker.play { broker in
                    let connection = try broker.acceptSession()
                    for number in 1...3 { try connection.send(.message(number, packetID: UInt16(number))) }
                    try connection.send(
                        .publish(
                            MQTTPublish(
                                topic: "elsewhere", payload: Array(#"{"n":4}"#.utf8), qos: .atLeastOnce, packetID: 4)))
                    _ = try connection.receiveAcknowledgements(4)
                    return connection
                }
                for _ in 1...4 {
                    let event = try await self.end(events)
                    #expect(event.isKept)
                }
                let letters = try await runtime.deadLetters().all()
                #expect(letters.map(\.messageID) == [1, 2, 3, 4])
                let first = try #require(letters.first)
                #expect(first.state == .dead(reason: .rejected("not now")))
                #expect(first.attempts == 1)
                #expect(first.payload == Array(#"{"n":1}"#.utf8))
                #expect(first.topic == "topic-1")
                #expect(first.originalLength == nil)
                #expect(first.receivedAt >= begin && first.updatedAt >= first.receivedAt && first.updatedAt <= .now())
                let installation = try agent.registration()?.installationID
                #expect(letters.allSatisfy { $0.installationID == installation })
                #expect(letters[3].state == .dead(reason: .unexpectedTopic))
                #expect(letters[3].attempts == 0)
                #expect(try await runtime.deadLetters(after: 2).all() == Array(letters[2...]))
                let reader = try InboxReader(stateDirectory: runtime.configuration.stateDirectory)
                #expect(try reader.deadLetters() == letters)
                #expect(try reader.deadLetters(after: 1, limit: 2) == Array(letters[1...2]))

                handler.accepts.withLock { $0 = true }
                #expect(try await runtime.retryDeadLetter(2))
                #expect(try await self.end(events).kind == .done(.newData, attempt: 1, isLate: false))
                // A retry delivers even a message of an unexpected topic, because the caller knows its topic.
                #expect(try await runtime.retryDeadLetter(4))
                #expect(try await self.end(events).messageID == 4)
                #expect(handler.handled.withLock { $0 } == [2, 4])
                #expect(try await runtime.dropDeadLetter(1))
                for gone in [0, 1, 2, 4, 99] as [Int64] {
                    #expect(try await !runtime.retryDeadLetter(gone))
                    #expect(try await !runtime.dropDeadLetter(gone))
                }
                #expect(try await runtime.deadLetters().all() == [letters[2]])
                #expect(try await runtime.ledger() == MessageLedger(received: 4, done: 2, dead: 1, dropped: 1))
                let kinds = try reader.trace(of: 2).events.map(\.kind)
                #expect(
                    kinds.suffix(5) == [
                        .started(attempt: 1), .dead(.rejected("not now"), attempt: 1), .retried,
                        .started(attempt: 1), .done(.newData, attempt: 1, isLate: false),
                    ])
                withExtendedLifetime(kept) {}
            }
            #expect(try LedgerAudit.problems(inStateDirectory: runtime.configuration.stateDirectory) == [])
        }
    }

    @Test func aDeadLetterThatIsRetriedWhileNoAgentRunsWaitsForIt() async throws {
        try await withFakeBroker { broker, runtime, configuration in
            let handler = RefusingHandler()
            let first = PushAgent(runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick)
            let events = first.events
            try await whileRunning(first) {
                try await broker.bring([.message(1, packetID: 1)])
                _ = try await self.end(events)
            }
            #expect(try await runtime.retryDeadLetter(1))
            #expect(try await runtime.ledger() == MessageLedger(received: 1, waiting: 1))
            handler.accepts.withLock { $0 = true }
            let second = PushAgent(runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick)
            let later = second.events
            try await whileRunning(second) {
                let end = try await self.end(later)
                #expect(end.kind == .done(.newData, attempt: 1, isLate: false))
            }
        }
    }

    @Test func inMemoryNothingIsKept() async throws {
        try await withTemporaryDirectory { directory in
            try await withFakeBroker(in: directory, inbox: .memory) { broker, runtime, configuration in
                let agent = PushAgent(
                    runtime: runtime, configuration: configuration, handler: RefusingHandler(), reconnect: .quick)
                let events = agent.events
                try await whileRunning(agent) {
                    try await broker.bring([.message(1, packetID: 1)])
                    let event = try await self.end(events)
                    #expect(event.kind == .dead(.rejected("not now"), attempt: 1))
                    #expect(!event.isKept)
                    #expect(try await runtime.deadLetters().all() == [])
                    #expect(try await !runtime.retryDeadLetter(event.messageID))
                    #expect(try await !runtime.dropDeadLetter(event.messageID))
                    #expect(try await runtime.ledger() == MessageLedger(received: 1, dead: 1))
                }
            }
        }
    }

    @Test func aDeadLetterOfAnUnknownInstallationCanOnlyBeDropped() async throws {
        try await withTemporaryDirectory { directory in
            let state = try self.state(in: directory, [.waiting, .waiting])
            let path = state + "/inbox.sqlite"
            // A damaged file may lose this table.
            try SQLiteFile(path, for: .changing).execute("DELETE FROM installation")
            _ = try Inbox.replaceDamaged(path, configuration: .init(), .init(reason: "damage", foundAt: .now()))
            let runtime = try PushRuntime(configuration: .init(stateDirectory: state))
            let letters = try await runtime.deadLetters().all()
            #expect(letters.map(\.messageID) == [1, 2])
            #expect(letters.allSatisfy { $0.installationID == nil && $0.reason.hasPrefix("damaged inbox") })
            #expect(try await !runtime.retryDeadLetter(1))
            #expect(try await runtime.deadLetters().all() == letters)
            #expect(try await runtime.dropDeadLetter(1))
            #expect(try await runtime.deadLetters().all() == [letters[1]])
            #expect(try await runtime.ledger() == MessageLedger(received: 2, dead: 1, dropped: 1))
            await runtime.shutdown()
        }
    }

    @Test func aLetterThatDiesMeanwhileIsReadIfItIsBehindThoseThatAre() async throws {
        try await withTemporaryDirectory { directory in
            let state = try self.state(in: directory, [.dead, .dead, .dead])
            let inbox = try Inbox(path: state + "/inbox.sqlite")
            let runtime = try PushRuntime(configuration: .init(stateDirectory: state))
            var read: [Int64] = []
            for try await letter in runtime.deadLetters() {
                read.append(letter.messageID)
                if read.count < 10 { try self.receive([.dead], in: inbox) }
            }
            #expect(read == Array(1...12))
            await runtime.shutdown()
        }
    }

    @Test func manyDeadLettersAreReadPageByPage() async throws {
        try await withTemporaryDirectory { directory in
            let states = (1...200).map { $0 % 2 == 0 ? RowState.dead : .waiting }
            let state = try self.state(in: directory, states)
            let runtime = try PushRuntime(configuration: .init(stateDirectory: state))
            let letters = try await runtime.deadLetters().all()
            #expect(letters.map(\.messageID) == stride(from: 2, through: 200, by: 2).map { $0 })
            #expect(letters.allSatisfy { $0.installationID == "inst-1" && $0.state == .dead(reason: .command) })
            // Dropping letters within the loop skips none.
            for try await letter in runtime.deadLetters() {
                #expect(try await runtime.dropDeadLetter(letter.messageID))
            }
            #expect(try await runtime.deadLetters().all() == [])
            #expect(try await runtime.ledger() == MessageLedger(received: 200, waiting: 100, dropped: 100))
            // This runtime owns the state directory until it ends.
            let other = try PushRuntime(configuration: .init(stateDirectory: state))
            await #expect(throws: PushAgentError.self) { try await other.retryDeadLetter(2) }
            await #expect(throws: PushAgentError.self) { try await other.deadLetters().all() }
            #expect(try InboxReader(stateDirectory: state).ledger().waiting == 100)
            await runtime.shutdown()
            await #expect(throws: TransportError.self) { try await runtime.dropDeadLetter(2) }
        }
    }

    private func state(in directory: String, _ states: [RowState]) throws -> String {
        let state = directory + "/state"
        try PrivateFile.makeDirectory(state)
        try self.receive(states, in: try Inbox(path: state + "/inbox.sqlite"))
        return state
    }

    private func receive(_ states: [RowState], in inbox: Inbox) throws {
        try inbox.transaction { transaction throws(InboxError) in
            let installation = try transaction.installation(id: "inst-1")
            for state in states {
                try transaction.insert(
                    StoredMessage(
                        installation: installation, topic: "t", payload: [], receivedAt: .now(), state: state,
                        reason: "command"))
            }
        }
    }

    private func end(_ events: AsyncStream<PushEvent>) async throws -> MessageEvent {
        for await event in events {
            guard case .message(let message) = event else { continue }
            switch message.kind {
            case .done, .dead: return message
            default: continue
            }
        }
        throw CancellationError()
    }
}

private final class RefusingHandler: RemoteNotificationHandler {
    let accepts = Locked(false)
    let handled = Locked<[Int64]>([])

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        guard self.accepts.withLock({ $0 }) else {
            completion.reject("not now")
            return
        }
        self.handled.withLock { $0.append(context.messageID) }
        completion(.newData)
    }
}
