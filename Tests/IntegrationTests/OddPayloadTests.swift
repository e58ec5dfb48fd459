import KiiPushCore
import TestSupport
import Testing

/// Pushes with one member of the wrong type still reach their handler.
@Suite struct OddPayloadTests {
    private static let payloads = [
        #"{"n":1,"aps":{"alert":"x","content-available":"1"}}"#, #"{"n":2,"aps":{"alert":"x","badge":"5"}}"#,
        #"{"n":3,"aps":{"alert":{"title":7,"body":"x"}}}"#, #"{"n":4,"aps":{"alert":5,"sound":[]}}"#,
        #"{"n":5,"aps":{"alert":"x"},"s":{"x":1},"to":[1]}"#, #"{"n":6,"sender":{"name":"bob"}}"#,
    ]

    @Test func aMemberOfTheWrongTypeMakesNoDeadLetter() async throws {
        try await withFakeBroker { broker, runtime, configuration in
            let agent = PushAgent(
                runtime: runtime, configuration: configuration, handler: RecordingHandler(), reconnect: .quick)
            let messages = Self.payloads.enumerated().map { index, payload in
                MQTTPacket.publish(
                    MQTTPublish(
                        topic: "topic-1", payload: Array(payload.utf8), qos: .atLeastOnce,
                        packetID: UInt16(index + 1)))
            }
            let events = agent.events
            try await whileRunning(agent) {
                let kept = try await broker.bring(messages)
                var ends: [MessageEvent.Kind] = []
                for await case .message(let event) in events {
                    switch event.kind {
                    case .done, .dead: ends.append(event.kind)
                    default: continue
                    }
                    if ends.count == messages.count { break }
                }
                #expect(ends == Array(repeating: .done(.newData, attempt: 1, isLate: false), count: messages.count))
                withExtendedLifetime(kept) {}
            }
            #expect(try await runtime.deadLetters().all().map(\.reason) == [])
        }
    }
}
