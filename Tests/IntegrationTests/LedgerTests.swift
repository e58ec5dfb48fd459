import KiiPushCore
import TestSupport
import Testing

/// What an agent's ledger says while messages fare in every way they may.
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
                // The acknowledgements are not known to have arrived: two of the five once more, and a sixth.
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
            // Let go of, 4 and 5 failed; they and 2 wait for the next run.
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
                        // What is behind 2 in the order of acknowledgements waits for it.
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
                    // 2 is given up on in the end, and this thread may be held up until then.
                    #expect(ledger.dead + ledger.waiting + ledger.running == 4 && ledger.dead >= 1, "\(ledger)")
                    handler.release()
                    withExtendedLifetime(kept) {}
                }
                #expect(try await runtime.ledger().isBalanced)
                #expect(throws: InboxAccessError.self) { try InboxReader(stateDirectory: directory) }
            }
        }
    }

    /// Waits until so many messages have come to these ends, and one has failed an attempt.
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
    /// A push of its own source, so that none waits for another.
    fileprivate static func varied(_ number: Int, duplicate: Bool = false) -> MQTTPacket {
        let payload = #"{"topic":"t\#(number)","objectScopeType":"APP","objectScopeAppID":"a","n":\#(number)}"#
        return .publish(
            MQTTPublish(
                topic: "topic-1", payload: Array(payload.utf8), qos: .atLeastOnce, duplicate: duplicate,
                packetID: UInt16(number)))
    }
}

/// Answers by the number in the message: 2 fails, 3 is rejected, 4 and 5 are held until let go of and then fail, the others
/// succeed.
private final class VariedHandler: RemoteNotificationHandler {
    /// `nil` when nothing is held any more: a retry may come before the agent stops.
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
        // Outside the lock: letting go of a completion is an answer.
        let held = self.held.withLock { held in
            defer { held = nil }
            return held
        }
        withExtendedLifetime(held) {}
    }
}
