import Foundation
import KiiPushCore
import TestSupport
import Testing

@Suite struct AcknowledgementTests {
    @Test func aMessageIsInTheFileBeforeItIsAcknowledged() async throws {
        try await withFakeBroker { broker, runtime, configuration in
            let path = "\(runtime.configuration.stateDirectory)/inbox.sqlite"
            let handler = RecordingHandler()
            try await whileRunning(
                PushAgent(runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick)
            ) {
                let stored = try await broker.play { broker in
                    let connection = try broker.acceptSession()
                    var stored: [Int] = []
                    for number in 1...50 {
                        try connection.send(.message(number, packetID: UInt16(number)))
                        #expect(try connection.receiveAcknowledgements(1) == [UInt16(number)])
                        var access = Inbox.Configuration()
                        access.isReadOnly = true
                        let inbox = try Inbox(path: path, configuration: access)
                        stored.append(RowState.allCases.map { Int(inbox.counts[$0].rows) }.reduce(0, +))
                    }
                    return stored
                }
                #expect(stored == Array(1...50))
                _ = await handler.next(50)
            }
        }
    }

    @Test func acknowledgementsLeaveInTheOrderOfReception() async throws {
        try await withFakeBroker { broker, runtime, configuration in
            let handler = RecordingHandler()
            try await whileRunning(
                PushAgent(runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick)
            ) {
                let order: [UInt16] = (1...200).map { UInt16($0 * 7 % 1009) }
                let acknowledged = try await broker.play { broker in
                    let connection = try broker.acceptSession()
                    for (index, identifier) in order.enumerated() {
                        try connection.send(.message(index, packetID: identifier))
                    }
                    return try connection.receiveAcknowledgements(order.count)
                }
                #expect(acknowledged == order)
                _ = await handler.next(order.count)
            }
        }
    }

    @Test func aRedeliveryOfAMessageWhoseHandlerRunsJoinsIt() async throws {
        try await withFakeBroker { broker, runtime, configuration in
            let release = DispatchSemaphore(value: 0)
            let handler = RecordingHandler { call in
                if call.context.messageID == 1 { release.wait() }
                return .newData
            }
            let agent = PushAgent(runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick)
            let events = agent.events
            try await whileRunning(agent) {
                try await broker.bring([.message(7, packetID: 5)])
                let second = try await broker.bring([.message(7, packetID: 5, duplicate: true)])
                var kinds: [MessageEvent.Kind] = []
                for await event in events {
                    guard case .message(let message) = event else { continue }
                    #expect(message.messageID == 1)
                    kinds.append(message.kind)
                    if message.kind == .duplicate { release.signal() }
                    if case .done = message.kind { break }
                }
                // Two threads report the start of the call and the second arrival, so their order varies.
                #expect(kinds.count == 4)
                #expect(kinds.first == .received && kinds.last == .done(.newData, attempt: 1, isLate: false))
                #expect(kinds.contains(.started(attempt: 1)) && kinds.contains(.duplicate))
                try await broker.play { _ in
                    try second.send(.message(8, packetID: 6))
                    _ = try second.receiveAcknowledgements(1)
                }
                #expect(await handler.next(2).map(\.context.messageID) == [1, 2])
            }
        }
    }

    /// An inbox in memory keeps only the data of a handled message that identify its redelivery.
    @Test(arguments: [PushRuntime.Configuration.Inbox.file, .memory])
    func aRedeliveryOfAHandledMessageStartsNothing(inbox: PushRuntime.Configuration.Inbox) async throws {
        try await withTemporaryDirectory { directory in
            try await withFakeBroker(in: directory, inbox: inbox) { broker, runtime, configuration in
                let handler = RecordingHandler()
                let agent = PushAgent(
                    runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick)
                try await whileRunning(agent) {
                    try await broker.bring([.message(7, packetID: 5), .message(8, packetID: 6)])
                    _ = await handler.next(2)
                    // The redelivery of message 7, and a new message as long as message 8.
                    let second = try await broker.bring([
                        .message(7, packetID: 5, duplicate: true), .message(9, packetID: 6, duplicate: true),
                    ])
                    #expect(await handler.next(1).map { $0.message.rawPayload["n"]?.int64 } == [9])
                    withExtendedLifetime(second) {}
                }
                #expect(try await runtime.ledger() == MessageLedger(received: 4, duplicates: 1, done: 3))
            }
        }
    }

    /// Forty messages have equal bytes, and the broker loses one acknowledgement. All forty reach the handler, and the
    /// agent recognises the redelivery.
    @Test func fortyEqualMessagesStayForty() async throws {
        try await withFakeBroker { broker, runtime, configuration in
            let handler = RecordingHandler()
            try await whileRunning(
                PushAgent(runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick)
            ) {
                try await broker.play { broker in
                    let first = try broker.acceptSession()
                    try first.send(.message(7, packetID: 11))
                    // The agent has stored and acknowledged the message. The broker disconnects without processing the
                    // acknowledgement.
                    _ = try first.receiveAcknowledgements(1)
                }
                try await broker.play { broker in
                    let second = try broker.acceptSession()
                    for identifier in 11...50 {
                        // After a reconnection mosquitto marks all queued messages as duplicates, even without an
                        // earlier delivery.
                        try second.send(.message(7, packetID: UInt16(identifier), duplicate: true))
                    }
                    #expect(try second.receiveAcknowledgements(40) == (11...50).map(UInt16.init))
                }
                let calls = await handler.next(40)
                #expect(Set(calls.map(\.context.messageID)).count == 40)
            }
        }
    }

    @Test func aBrokerThatGrantsQoS0IsReportedAsSuch() async throws {
        try await withFakeBroker { broker, runtime, configuration in
            let agent = PushAgent(
                runtime: runtime, configuration: configuration, handler: RecordingHandler(), reconnect: .quick)
            let events = agent.events
            try await whileRunning(agent) {
                let connection = try await broker.play { broker in
                    let connection = try broker.accept()
                    let connect = try connection.open(sessionPresent: false, granted: .atMostOnce)
                    #expect(connect.clientID == "topic-1")
                    #expect(!connect.cleanSession)
                    return connection
                }
                var isLost = false
                for await event in events {
                    if case .notice(.sessionLost, _, _) = event { isLost = true }
                    guard case .connected(let state) = event else { continue }
                    #expect(state.qualityOfService == 0)
                    break
                }
                // The agent's file has a session, and the broker reports none.
                #expect(isLost)
                withExtendedLifetime(connection) {}
            }
        }
    }

    @Test func whatIsNoPushIsKeptAsADeadLetterAndAcknowledged() async throws {
        try await withFakeBroker { broker, runtime, configuration in
            let agent = PushAgent(
                runtime: runtime, configuration: configuration, handler: RecordingHandler(), reconnect: .quick)
            let events = agent.events
            try await whileRunning(agent) {
                try await broker.play { broker in
                    let connection = try broker.acceptSession()
                    let huge = [UInt8](repeating: 0x20, count: 300_000)
                    let bad: [(String, [UInt8])] = [
                        ("topic-1", Array("not JSON".utf8)), ("topic-2", Array("{}".utf8)),
                        ("topic-1", Array(#"{"commandID":"c","actions":[]}"#.utf8)), ("topic-1", huge),
                    ]
                    for (index, message) in bad.enumerated() {
                        try connection.send(
                            .publish(
                                MQTTPublish(
                                    topic: message.0, payload: message.1, qos: .atLeastOnce,
                                    packetID: UInt16(index + 1))))
                    }
                    #expect(try connection.receiveAcknowledgements(4) == [1, 2, 3, 4])
                }
                // A command waits for its turn before it becomes a dead letter, so its event may follow the next
                // message's.
                var dead: [Int64: String] = [:]
                for await event in events {
                    guard case .message(let message) = event, case .dead(let reason, _) = message.kind
                    else { continue }
                    dead[message.messageID] = reason.description
                    if dead.count == 4 { break }
                }
                let reasons = dead.sorted { $0.key < $1.key }.map(\.value)
                #expect(reasons[0].hasPrefix("undecodable"))
                #expect(reasons[1...] == ["unexpectedTopic", "command", "oversized: 300000 bytes"])
            }
        }
    }
}
