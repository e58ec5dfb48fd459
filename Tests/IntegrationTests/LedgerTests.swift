import KiiPushCore
import TestSupport
import Testing

@Suite struct LedgerTests {
    @Test func accountsForEveryMessageOfAFile() async throws {
        try await withFakeBroker { broker, runtime, configuration in
            let directory = runtime.configuration.stateDirectory
            let handler = VariedHandler()
            let agent = PushAgent(runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick)
            let events = agent.events
            try await whileRunning(agent) {
                #expect(try await runtime.ledger() == MessageLedger())
                try await broker.play { broker in
                    let connection = try broker.acceptSession()
                    for number in 1...5 { try connection.send(.varied(number)) }
                    _ = try connection.receiveAcknowledgements(5)
                    #expect(try LedgerAudit.problems(inStateDirectory: directory) == [])
                }
                // The broker sends two of the five messages again, as without their acknowledgements, and a sixth
                // message.
                let kept = try await broker.play { broker in
                    let connection = try broker.acceptSession()
                    for number in [2, 3] { try connection.send(.varied(number, duplicate: true)) }
                    try connection.send(.varied(6))
                    _ = try connection.receiveAcknowledgements(3)
                    return connection
                }
                await self.verdicts(events, done: 2, dead: 1, failed: 1)
                let ledger = try await runtime.ledger()
                #expect(ledger.isBalanced)
                #expect(
                    [ledger.received, ledger.duplicates, ledger.done, ledger.dead, ledger.waiting + ledger.running]
                        == [8, 2, 2, 1, 3])
                #expect(try LedgerAudit.problems(inStateDirectory: directory) == [])
                handler.release()
                withExtendedLifetime(kept) {}
            }
            // At the stop, the held attempts of 4 and 5 failed; 2, 4 and 5 wait for the next run.
            let end = MessageLedger(received: 8, duplicates: 2, waiting: 3, done: 2, dead: 1)
            #expect(try await runtime.ledger() == end)
            #expect(try InboxReader(stateDirectory: directory).ledger() == end)
            #expect(try LedgerAudit.problems(inStateDirectory: directory) == [])
        }
    }

    @Test func accountsForEveryMessageInMemory() async throws {
        try await withTemporaryDirectory { directory in
            try await withFakeBroker(in: directory, inbox: .memory) { broker, runtime, configuration in
                let handler = VariedHandler()
                let agent = PushAgent(
                    runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick)
                let events = agent.events
                try await whileRunning(agent) {
                    #expect(try await runtime.ledger() == MessageLedger())
                    try await broker.play { broker in
                        let connection = try broker.acceptSession()
                        for number in 1...5 { try connection.send(.varied(number)) }
                        // Later acknowledgements wait for that of message 2.
                        #expect(try connection.receiveAcknowledgements(1) == [1])
                    }
                    let kept = try await broker.play { broker in
                        let connection = try broker.acceptSession()
                        for number in [3, 4] { try connection.send(.varied(number, duplicate: true)) }
                        try connection.send(.varied(6))
                        return connection
                    }
                    await self.verdicts(events, done: 2, dead: 1, failed: 1)
                    let ledger = try await runtime.ledger()
                    #expect(ledger.isBalanced, "\(ledger)")
                    #expect([ledger.received, ledger.duplicates, ledger.done] == [8, 2, 2])
                    // Message 2 may already be dead if this thread was slow.
                    #expect(ledger.dead + ledger.waiting + ledger.running == 4 && ledger.dead >= 1, "\(ledger)")
                    handler.release()
                    withExtendedLifetime(kept) {}
                }
                #expect(try await runtime.ledger().isBalanced)
                #expect(throws: InboxAccessError.self) { try InboxReader(stateDirectory: directory) }
            }
        }
    }

    /// Waits until `done` and `dead` messages have ended so, and until `failed` attempts have failed.
    private func verdicts(_ events: AsyncStream<PushEvent>, done: Int, dead: Int, failed: Int) async {
        var (seenDone, seenDead, seenFailed) = (0, 0, 0)
        for await event in events {
            guard case .message(let message) = event else { continue }
            switch message.kind {
            case .done: seenDone += 1
            case .dead: seenDead += 1
            case .failed: seenFailed += 1
            default: continue
            }
            if seenDone >= done, seenDead >= dead, seenFailed >= failed { return }
        }
    }
}

extension MQTTPacket {
    /// A push of its own source, so that no message waits for another.
    fileprivate static func varied(_ number: Int, duplicate: Bool = false) -> MQTTPacket {
        let payload = #"{"topic":"t\#(number)","objectScopeType":"APP","objectScopeAppID":"a","n":\#(number)}"#
        return .publish(
            MQTTPublish(
                topic: "topic-1", payload: Array(payload.utf8), qos: .atLeastOnce, duplicate: duplicate,
                packetID: UInt16(number)))
    }
}

/// Answers by the number in the message: 2 fails, 3 is rejected, 4 and 5 get no answer before ``release()``, the others
/// succeed.
private final class VariedHandler: RemoteNotificationHandler {
    /// The held completions; `nil` after ``release()``, because a retry may arrive before the agent stops.
    private let held = Locked<[FetchCompletion]?>([])

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        switch message.rawPayload["n"]?.int64 {
        case 2: completion(.failed)
        case 3: completion.reject("not this one")
        case 4, 5: self.held.withLock { $0?.append(completion) }
        default: completion(.newData)
        }
    }

    func release() {
        // Outside the lock, because releasing a completion fails the attempt.
        let held = self.held.withLock { held in
            defer { held = nil }
            return held
        }
        withExtendedLifetime(held) {}
    }
}
