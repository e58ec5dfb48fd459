import KiiPushCore
import TestSupport
import TestTraits
import Testing

/// Another process watches an agent through its control socket, and sees the messages although the inbox is in memory.
@Suite(.ownThreads) struct WatchingTests {
    private static let odd = [
        #"{"q":"\"\\\/\b\u00e9\ud83d\ude00","é":"日本"}"#,
        "{\"n\" : -12345678901234567890123.4500e+07,\n\t\"n\":1e999,\r\"a\":[[{}]]}",
    ].map { Array($0.utf8) }
    /// Payloads that watchers do not get: too long for a line, a command without a handler, and no JSON.
    private static let untold = [
        Array((#"{"x":""# + String(repeating: "x", count: 70_000) + #""}"#).utf8),
        Array(#"{"commandID":"c","actions":[{"a":1}]}"#.utf8), Array(#"{"x":""#.utf8) + [0xFF] + Array(#""}"#.utf8),
    ]

    @Test func aWatcherIsToldWhatIsReceived() async throws {
        try await withTemporaryDirectory { directory in
            try await withFakeBroker(in: directory, inbox: .memory, configure: { $0.hasControlSocket = true }) {
                broker, runtime, configuration in
                let agent = PushAgent(
                    runtime: runtime, configuration: configuration, handler: RecordingHandler(), reconnect: .quick)
                // Observers in the process get no payload, because the handler has the message.
                agent.observe { event in
                    if case .message(let event) = event { #expect(event.message == nil) }
                }
                try await whileRunning(agent) {
                    let connection = try await broker.play { try $0.acceptSession() }
                    try await Self.watch(directory) {
                        for (index, payload) in (Self.odd + Self.untold).enumerated() {
                            let publish = MQTTPublish(
                                topic: "topic-1", payload: payload, qos: .atLeastOnce, packetID: UInt16(index + 1))
                            try connection.send(.publish(publish))
                        }
                    }
                    withExtendedLifetime(connection) {}
                }
            }
        }
    }

    private static func watch(_ directory: String, onceConnected send: () throws -> Void) async throws {
        let client = try #require(try ControlClient(stateDirectory: directory))
        var isConnected = false
        var begun: [Int64: [UInt8]?] = [:]
        var ended: Set<Int64> = []
        for await notice in try client.watch() {
            switch notice {
            case .event(.connected):
                if !isConnected { try send() }
                isConnected = true
            case .event(.message(let event)):
                switch event.kind {
                case .started: begun[event.messageID] = .some(event.message?.payloadBytes)
                case .done, .dead: ended.insert(event.messageID)
                default: #expect(event.message == nil)
                }
            case .event: continue
            case .unknown(let words): Issue.record("\(words) is unknown")
            case .missed(let count): Issue.record("\(count) events were missed")
            }
            if ended.count == Self.odd.count + Self.untold.count { break }
        }
        #expect(ended.count == Self.odd.count + Self.untold.count)
        let messages = begun.sorted { $0.key < $1.key }.map(\.value)
        #expect(messages == Self.odd + [nil])
    }
}
