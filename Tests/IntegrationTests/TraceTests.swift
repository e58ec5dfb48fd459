import KiiPushCore
import TestSupport
import Testing

@Suite struct TraceTests {
    @Test func recordsEveryStepOfALife() async throws {
        try await withFakeBroker { broker, runtime, configuration in
            let reader = { try InboxReader(stateDirectory: runtime.configuration.stateDirectory) }
            let agent = PushAgent(
                runtime: runtime, configuration: configuration, handler: AnsweringHandler(), reconnect: .quick)
            let events = agent.events
            let begin = Timestamp.now()
            try await whileRunning(agent) {
                try await broker.play { broker in
                    let connection = try broker.acceptSession()
                    for number in 1...3 { try connection.send(.message(number, packetID: UInt16(number))) }
                    try connection.send(
                        .publish(MQTTPublish(topic: "topic-1", payload: Array(#"{"n":4}"#.utf8), qos: .atMostOnce)),
                        .publish(
                            MQTTPublish(
                                topic: "elsewhere", payload: Array(#"{"n":5}"#.utf8), qos: .atLeastOnce, packetID: 5)))
                    _ = try connection.receiveAcknowledgements(4)
                }
                // The broker has no acknowledgement of message 2, and sends the message again on another connection.
                let kept = try await broker.bring([.message(2, packetID: 2, duplicate: true)])
                await self.ends(events, [1, 2, 3, 4, 5])
                withExtendedLifetime(kept) {}
            }
            _ = try await runtime.ledger()
            let kinds = try (1...5).map { try reader().trace(of: $0).events.map(\.kind) }
            let head: [MessageEvent.Kind] = [.received, .stored, .acknowledged, .started(attempt: 1)]
            #expect(kinds[0] == head + [.done(.newData, attempt: 1, isLate: false)])
            let retried: [MessageEvent.Kind] = [
                .failed(attempt: 1, .failed, retryAfter: .seconds(1)), .started(attempt: 2),
                .done(.noData, attempt: 2, isLate: false),
            ]
            // The duplicate may arrive before or after the first attempt.
            #expect(kinds[1].filter { $0 != .duplicate } == head + retried)
            #expect(kinds[1].count { $0 == .duplicate } == 1)
            #expect(kinds[2] == head + [.dead(.rejected("no"), attempt: 1)])
            #expect(kinds[3] == head.filter { $0 != .acknowledged } + [.done(.newData, attempt: 1, isLate: false)])
            #expect(kinds[4] == [.received, .stored, .acknowledged, .dead(.unexpectedTopic, attempt: nil)])

            for number in 1...5 {
                let trace = try reader().trace(of: Int64(number))
                #expect(trace.missing == [])
                #expect(trace.events.map(\.at) == trace.events.map(\.at).sorted())
                #expect(trace.events.allSatisfy { $0.at >= begin && $0.at <= .now() })
                #expect(trace.payload == Array("{\"n\":\(number)}".utf8))
                #expect(trace.packetID == (number == 4 ? nil : number))
                #expect(trace.qualityOfService == (number == 4 ? 0 : 1))
                #expect(trace.topic == (number == 5 ? "elsewhere" : "topic-1"))
                #expect(trace.installationID?.isEmpty == false)
            }
            #expect(try reader().trace(of: 5).state == .dead(reason: .unexpectedTopic))
            // The second attempt came after the delay.
            let second = try reader().trace(of: 2)
            let failed = try #require(second.events.first { if case .failed = $0.kind { true } else { false } })
            let again = try #require(second.events.first { $0.kind == .started(attempt: 2) })
            #expect(again.at >= failed.at + .milliseconds(999))
        }
    }

    @Test func saysWhatIsNotRecorded() async throws {
        try await withTemporaryDirectory { directory in
            let inbox = try Inbox(path: directory + "/inbox.sqlite")
            try inbox.transaction { transaction throws(InboxError) in
                for state in [RowState.inHand, .waiting, .done, .retry] {
                    var row = StoredMessage(installation: 1, topic: "t", payload: [], packetID: 1, receivedAt: .now())
                    row.state = state
                    try transaction.insert(row, storedAt: state == .done ? nil : .now())
                }
            }
            let reader = try InboxReader(stateDirectory: directory)
            // The acknowledgement is written together with the answer, so it is not missing before the answer.
            #expect(try reader.trace(of: 1).missing == [])
            #expect(try reader.trace(of: 2).missing == [])
            #expect(try reader.trace(of: 3).missing == [.storing, .acknowledgement, .answer])
            #expect(try reader.trace(of: 4).missing == [.acknowledgement])
            #expect(throws: InboxAccessError.neverReceived(messageID: 5, last: 4)) { try reader.trace(of: 5) }
            #expect(throws: InboxAccessError.neverReceived(messageID: 0, last: 4)) { try reader.trace(of: 0) }
            #expect(throws: InboxAccessError.neverReceived(messageID: -1, last: 4)) { try reader.trace(of: -1) }
            try inbox.transaction { transaction throws(InboxError) in
                try transaction.update(MessageChange(sequence: 2, state: .dead), at: .now())
                try transaction.drop(2)
            }
            #expect(throws: InboxAccessError.removed(messageID: 2)) { try reader.trace(of: 2) }
        }
    }

    private func ends(_ events: AsyncStream<PushEvent>, _ numbers: Set<Int64>) async {
        var missing = numbers
        for await event in events {
            guard case .message(let message) = event else { continue }
            switch message.kind {
            case .done, .dead: missing.remove(message.messageID)
            default: continue
            }
            if missing.isEmpty { return }
        }
    }
}

/// Message 2 fails at first, message 3 is rejected, and the others succeed.
private struct AnsweringHandler: RemoteNotificationHandler {
    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        switch (message.rawPayload["n"]?.int64, context.attempt) {
        case (2, 1): completion(.failed)
        case (2, _): completion(.noData)
        case (3, _): completion.reject("no")
        default: completion(.newData)
        }
    }
}
