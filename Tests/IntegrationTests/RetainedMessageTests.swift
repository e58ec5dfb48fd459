import Foundation
import KiiPushCore
import TestSupport
import Testing

@Suite struct RetainedMessageTests {
    /// One connection: sends the retained message after SUBSCRIBE, and then a live message.
    private static func bring(
        _ broker: FakeBroker, retained: Int, at qos: QoS, then number: Int, sessionPresent: Bool = true
    ) async throws {
        try await broker.play { broker in
            var connection = try broker.accept()
            while (try? connection.open(sessionPresent: sessionPresent)) == nil { connection = try broker.accept() }
            try connection.send(
                .publish(
                    MQTTPublish(
                        topic: "topic-1", payload: Array("{\"n\":\(retained)}".utf8), qos: qos, retain: true,
                        packetID: qos == .atMostOnce ? nil : 1)),
                .message(number, packetID: 2))
            let expected: [UInt16] = qos == .atMostOnce ? [2] : [1, 2]
            let acknowledged = try connection.receiveAcknowledgements(expected.count)
            guard acknowledged == expected else { throw TestFailure("\(acknowledged) were acknowledged") }
            connection.reset()
        }
    }

    /// Some brokers set the retain flag of live messages too.
    @Test func onlyTheFirstOfAConnectionIsTheTopics() async throws {
        try await withFakeBroker { broker, runtime, configuration in
            let handler = RecordingHandler()
            let agent = PushAgent(
                runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick)
            try await whileRunning(agent) {
                try await Self.bring(broker, retained: 100, at: .atLeastOnce, then: 1)
                #expect(await Self.numbers(handler, 2) == [1, 100])
                try await broker.play { broker in
                    var connection = try broker.accept()
                    while (try? connection.open(sessionPresent: true)) == nil { connection = try broker.accept() }
                    let live = (1...2).map { packetID in
                        MQTTPacket.publish(
                            MQTTPublish(
                                topic: "topic-1", payload: Array(#"{"n":100}"#.utf8), qos: .atLeastOnce, retain: true,
                                packetID: UInt16(packetID)))
                    }
                    try connection.send(live[0], live[1])
                    let acknowledged = try connection.receiveAcknowledgements(2)
                    guard acknowledged == [1, 2] else { throw TestFailure("\(acknowledged) were acknowledged") }
                    connection.reset()
                }
                #expect(await Self.numbers(handler, 1) == [100])
            }
        }
    }

    private static func numbers(_ handler: RecordingHandler, _ count: Int) async -> [Int64?] {
        await handler.next(count).map { $0.message.rawPayload["n"]?.int64 }.sorted { $0 ?? 0 < $1 ?? 0 }
    }

    @Test(arguments: [QoS.atLeastOnce, .atMostOnce])
    func oneWithTheSameBytesIsHandledOnceInASession(qos: QoS) async throws {
        try await withFakeBroker { broker, first, configuration in
            let handler = RecordingHandler()
            func agent(_ runtime: PushRuntime) -> PushAgent {
                PushAgent(runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick)
            }
            try await whileRunning(agent(first)) {
                try await Self.bring(broker, retained: 100, at: qos, then: 1)
                try await Self.bring(broker, retained: 100, at: qos, then: 2)
                #expect(await Self.numbers(handler, 3) == [1, 2, 100])
                try await Self.bring(broker, retained: 101, at: qos, then: 3)
                try await Self.bring(broker, retained: 101, at: qos, then: 4)
                #expect(await Self.numbers(handler, 3) == [3, 4, 101])
            }
            await first.shutdown()
            // After a restart of the process it is still the same message.
            let second = try PushRuntime(configuration: .patient(stateDirectory: first.configuration.stateDirectory))
            try await whileRunning(agent(second)) {
                try await Self.bring(broker, retained: 101, at: qos, then: 5)
                try await Self.bring(broker, retained: 101, at: qos, then: 6, sessionPresent: false)
                #expect(await Self.numbers(handler, 3) == [5, 6, 101])
            }
            await second.shutdown()
        }
    }

    /// Without the inbox, the agent has no record of the retained message. Nobody may have handled the message, so the
    /// agent delivers it again.
    @Test(arguments: [false, true])
    func oneWhoseInboxIsGoneIsHandled(isDamaged: Bool) async throws {
        try await withFakeBroker { broker, first, configuration in
            let directory = first.configuration.stateDirectory
            let failing = RecordingHandler { _ in .failed }
            let before = PushAgent(runtime: first, configuration: configuration, handler: failing, reconnect: .quick)
            try await whileRunning(before) {
                try await Self.bring(broker, retained: 100, at: .atLeastOnce, then: 1)
                #expect(await Self.numbers(failing, 2) == [1, 100])
            }
            await first.shutdown()
            if isDamaged {
                try Data(repeating: 0x5A, count: 8192).write(to: URL(filePath: "\(directory)/inbox.sqlite"))
            } else {
                for name in try FileManager.default.contentsOfDirectory(atPath: directory)
                where name.hasPrefix("inbox.sqlite") {
                    try FileManager.default.removeItem(atPath: "\(directory)/\(name)")
                }
            }
            let second = try PushRuntime(configuration: .patient(stateDirectory: directory))
            let handler = RecordingHandler()
            let after = PushAgent(runtime: second, configuration: configuration, handler: handler, reconnect: .quick)
            try await whileRunning(after) {
                try await Self.bring(broker, retained: 100, at: .atLeastOnce, then: 2)
                #expect(await Self.numbers(handler, 2) == [2, 100])
                // The new inbox has a record of the message.
                try await Self.bring(broker, retained: 100, at: .atLeastOnce, then: 3)
                try await Self.bring(broker, retained: 101, at: .atLeastOnce, then: 4)
                #expect(await Self.numbers(handler, 3) == [3, 4, 101])
            }
            await second.shutdown()
        }
    }
}
