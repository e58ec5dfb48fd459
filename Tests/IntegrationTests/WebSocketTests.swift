import Glibc
import KiiPushCore
import TestSupport
import Testing

@Suite struct WebSocketTests {
    private static func write(_ directory: String, portTCP: UInt16, portWS: UInt16) throws {
        var endpoint = MQTTEndpoint(
            installationID: "i-\(UInt64.random(in: .min ... .max))", host: "127.0.0.1", portTCP: portTCP, portSSL: nil,
            mqttTopic: "topic-1", username: "name", password: "password")
        endpoint.portWS = portWS
        try AgentStateFixture(endpoint: endpoint).write(to: directory)
    }

    /// Runs `body` with an agent whose endpoint has a closed port for TCP.
    private static func withAgent(
        _ transport: PushAgent.Transport,
        configure: (inout PushRuntime.Configuration) -> Void = { _ in },
        _ body: (FakeBroker, @escaping @Sendable () -> PushAgent, RecordingHandler, _ refused: UInt16) async throws ->
            Void
    ) async throws {
        let refused = try Loopback.bound()
        defer { close(refused.descriptor) }
        try await withFakeBroker(configure: configure) { broker, runtime, configuration in
            let directory = runtime.configuration.stateDirectory
            try Self.write(directory, portTCP: refused.port, portWS: broker.port)
            var configuration = configuration
            configuration.transport = transport
            let endpoint =
                #"{"username":"name","password":"password","mqttTopic":"topic-1","host":"127.0.0.1","#
                + #""portTCP":\#(refused.port),"portWS":\#(broker.port)}"#
            let cloud = try FakeCloud { _ in .init(status: 200, body: endpoint) }
            configuration.app = AgentStateFixture.app(at: cloud.baseURL)
            let handler = RecordingHandler()
            let agent = { @Sendable [configuration] in
                PushAgent(runtime: runtime, configuration: configuration, handler: handler, reconnect: .quick)
            }
            try await body(broker, agent, handler, refused.port)
        }
    }

    private static func ports(_ events: AsyncStream<PushEvent>, _ count: Int) async -> [Int] {
        var ports: [Int] = []
        for await event in events {
            if case .connecting(_, let port, _) = event { ports.append(port) }
            if ports.count == count { break }
        }
        return ports
    }

    @Test func messagesArriveAndAreAcknowledgedHoweverTheyAreFramed() async throws {
        try await Self.withAgent(.webSocket) { broker, makeAgent, handler, _ in
            let agent = makeAgent()
            let events = agent.events
            try await whileRunning(agent) {
                let acknowledged = try await broker.play { broker in
                    let connection = try broker.accept()
                    try connection.upgrade()
                    try connection.open(sessionPresent: true)
                    var packets: [UInt8] = []
                    try MQTTPacket.message(1, packetID: 1).encode(into: &packets)
                    try MQTTPacket.message(2, packetID: 2).encode(into: &packets)
                    // Frames of three bytes with pings between, sent in pieces that end within headers.
                    var frames: [UInt8] = []
                    for start in stride(from: 0, to: packets.count, by: 3) {
                        let piece = Array(packets[start..<min(start + 3, packets.count)])
                        WebSocketFrame.append(.binary, piece, mask: nil, to: &frames)
                        WebSocketFrame.append(.ping, [1], mask: nil, to: &frames)
                    }
                    for start in stride(from: 0, to: frames.count, by: 7) {
                        try connection.send(bytes: Array(frames[start..<min(start + 7, frames.count)]))
                    }
                    return try connection.receiveAcknowledgements(2)
                }
                #expect(acknowledged == [1, 2])
                let numbers = await handler.next(2).map { $0.message.rawPayload["n"]?.int64 }
                #expect(numbers == [1, 2])
            }
            let connected = await firstEvent(events) { if case .connected = $0 { true } else { false } }
            guard case .connected(let connection) = connected else { throw TestFailure("not connected") }
            #expect(connection.usesWebSocket && !connection.usesTLS)
            #expect(connection.url == "ws://127.0.0.1:\(broker.port)")
        }
    }

    @Test func automaticTurnsToTheWebSocketAndRemembersIt() async throws {
        try await Self.withAgent(.automatic) { broker, makeAgent, _, refused in
            let first = makeAgent()
            let events = first.events
            try await whileRunning(first) {
                try await broker.play { broker in
                    let connection = try broker.accept()
                    try connection.upgrade()
                    try connection.open(sessionPresent: true)
                }
                _ = await firstEvent(first.events) { if case .disconnected = $0 { true } else { false } }
            }
            let tcp = Int(refused)
            let webSocket = Int(broker.port)
            #expect(await Self.ports(events, 4) == [tcp, tcp, tcp, webSocket])
            broker.goAway()
            let second = makeAgent()
            let more = second.events
            try await whileRunning(second) {
                // The agent returns to TCP after the WebSocket's port fails too.
                #expect(await Self.ports(more, 5) == [webSocket, tcp, tcp, tcp, webSocket])
            }
        }
    }

    /// Bytes that a server sends after the request, and words of the agent's error.
    static let faults: [(bytes: @Sendable ([UInt8]) -> [UInt8], sentence: String)] = {
        func answer(_ text: String) -> @Sendable ([UInt8]) -> [UInt8] { { _ in Array(text.utf8) } }
        func changed(_ part: String, _ other: String) -> @Sendable ([UInt8]) -> [UInt8] {
            { opening in
                let text = String(decoding: opening, as: UTF8.self)
                let parts = text.split(separator: part, maxSplits: 1, omittingEmptySubsequences: false)
                return Array((parts[0] + other + (parts.count > 1 ? parts[1] : "")).utf8)
            }
        }
        func frame(_ bytes: UInt8...) -> @Sendable ([UInt8]) -> [UInt8] { { $0 + bytes } }
        return [
            (
                answer("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>"),
                "upgrade with 200 OK; Content-Type: text/html"
            ),
            (
                answer("HTTP/1.1 301 Moved\r\nLocation: https://a/\r\n\r\n"),
                "upgrade with 301 Moved; Location: https://a/"
            ),
            (answer("HTTP/1.1 401 Unauthorized\r\n\r\n"), "upgrade with 401 Unauthorized"),
            (answer("HTTP/1.1 403 Forbidden\r\n\r\n"), "upgrade with 403 Forbidden"),
            (answer("HTTP/1.1 426 Upgrade Required\r\n\r\n"), "upgrade with 426 Upgrade Required"),
            (answer("<!doctype html>"), "upgrade with something other than HTTP"),
            (
                answer("HTTP/1.1 101 X\r\nX: \(String(repeating: "x", count: 17_000))"),
                "more than 16384 bytes of header"
            ),
            (changed("Sec-WebSocket-Accept: ", "Sec-WebSocket-Accept: x"), "no Sec-WebSocket-Accept for the key"),
            (changed("Sec-WebSocket-Protocol", "X"), "without the subprotocol mqtt"),
            (changed("Protocol: mqtt", "Protocol: chat"), "with the subprotocol chat, and not mqtt"),
            (frame(0x81, 1, 0x41), "it sent a text frame"),
            (frame(0x82, 0x81, 0, 0, 0, 0, 1), "it sent a masked frame"),
            (frame(0xC2, 1, 1), "it sent a frame with reserved bits set"),
            (frame(0x09, 0), "it sent a fragmented ping frame"),
            (frame(0x89, 126, 1, 0), "it sent a ping frame of more than 125 bytes"),
            (frame(0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0), "it sent a frame of 9223372036854775808 bytes"),
            (frame(0x88, 0), "the server closed the WebSocket without a code"),
            (frame(0x88, 2, 0x03, 0xF0, 0x82, 0), "code 1008, against its policy; and it sent 2 bytes after that"),
        ]
    }()

    @Test(arguments: Self.faults.indices)
    func aServerThatDoesOtherwiseIsNamedAndTriedAgain(index: Int) async throws {
        let (bytes, sentence) = Self.faults[index]
        try await Self.withAgent(.webSocket) { broker, makeAgent, _, _ in
            let agent = makeAgent()
            let events = agent.events
            try await whileRunning(agent) {
                try await broker.play { broker in
                    let connection = try broker.accept()
                    try connection.send(bytes: bytes(connection.receiveUpgrade()))
                    let next = try broker.accept()
                    try next.upgrade()
                    try next.open(sessionPresent: true)
                }
            }
            let end = await firstEvent(events) { if case .disconnected = $0 { true } else { false } }
            guard case .disconnected(let reason, _) = end else { throw TestFailure("not disconnected") }
            #expect(reason.contains(sentence))
        }
    }
}
