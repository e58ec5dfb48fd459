import Testing

@testable import KiiPushCore

extension Pipeline {
    /// A pipeline that delivers nothing.
    static func idle(
        over store: any Store, on loop: any Loop, wake: @escaping @Sendable () -> Void = {}
    ) -> Pipeline {
        Pipeline(
            store: store, on: loop, configuration: DeliveryConfiguration(), limits: .memory, clock: { .now() },
            observer: HubObserver(hubs: Locked([:]), keeping: .memory, listeners: Locked(0)), wake: wake,
            threads: .none(onWork: {}))
    }
}

extension BrokerLink {
    /// A link whose first connection has the number 101.
    static func test(on loop: EventLoop, _ pipeline: Pipeline) -> BrokerLink {
        BrokerLink(
            installation: 1,
            configuration: MQTTSession.Configuration(clientID: "client", topicFilter: "topic"),
            filter: RedeliveryFilter(), connectionBase: 100, loop: loop, pipeline: pipeline,
            verifiesCertificates: true, report: { _ in })
    }
}

/// Links on a loop's thread and without a broker. What is found there is judged on the test's own thread, since nobody
/// knows elsewhere which test it is of.
@Suite struct BrokerLinkTests {
    private static func arrival(_ link: BrokerLink, connection: Int64) -> Arrival {
        Arrival(
            link: link,
            message: MQTTSession.InboundMessage(
                topic: "topic", payload: [1], qos: .atLeastOnce, packetID: 5, ticket: 1),
            connection: connection, receivedAt: .now())
    }

    private static func target() throws -> BrokerLink.Target {
        let endpoint = MQTTEndpoint(
            installationID: "i", host: "127.0.0.1", portTCP: 1, portSSL: nil, mqttTopic: "topic", username: "u",
            password: "p")
        return try BrokerLink.Target(endpoint, usesTLS: false)
    }

    @Test func anAcknowledgementLeavesOnAConnectionThatStandsAlone() async throws {
        let loop = try EventLoop()
        defer { loop.shutdown() }
        let carried = try await loop.run {
            let link = BrokerLink.test(on: loop, .idle(over: MemoryStore(), on: loop))
            let stream = loop.openStream(try Self.target().stream, delegate: link)
            defer { stream.close() }
            func carries(_ connection: Int64) -> Bool {
                link.stillCarries(Self.arrival(link, connection: connection))
            }
            link.connect(to: try Self.target()) { _ in }
            var carried = [carries(100)]
            link.streamDidConnect(stream)
            carried += [carries(101), carries(100)]
            link.disconnect()
            carried.append(carries(101))
            link.connect(to: try Self.target()) { _ in }
            // The next one is on its way.
            carried.append(carries(101))
            link.disconnect()
            return carried
        }
        #expect(carried == [false, true, false, false, false])
    }

    /// What is stored after the next connection began may be of another session: nothing is taken for it again.
    @Test func aMessageIsTheLatestUntilTheNextConnectionBegins() async throws {
        let loop = try EventLoop()
        defer { loop.shutdown() }
        let latest = try await loop.run {
            let link = BrokerLink.test(on: loop, .idle(over: MemoryStore(), on: loop))
            let stream = loop.openStream(try Self.target().stream, delegate: link)
            defer { stream.close() }
            func isLatest() -> Bool { link.isLatest(Self.arrival(link, connection: 101)) }
            link.connect(to: try Self.target()) { _ in }
            link.streamDidConnect(stream)
            var latest = [isLatest()]
            link.streamDidClose(stream, error: TransportError(.connectionLost, detail: "cut"))
            link.connect(to: try Self.target()) { _ in }
            latest.append(isLatest())
            link.streamDidConnect(stream)
            latest.append(isLatest())
            return latest
        }
        #expect(latest == [true, true, false])
    }

    @Test func aBrokerThatDoesNotReadIsLeft() async throws {
        let loop = try EventLoop()
        defer { loop.shutdown() }
        let (early, reasons) = try await loop.run {
            let link = BrokerLink.test(on: loop, .idle(over: MemoryStore(), on: loop))
            let stream = loop.openStream(try Self.target().stream, delegate: link)
            defer { stream.close() }
            var ends: [BrokerLink.End] = []
            link.connect(to: try Self.target()) { ends.append($0) }
            // What is sent stays where it is: the link's own stream does not connect before this turn is over.
            link.streamDidConnect(stream)
            var bytes: [UInt8] = []
            try MQTTPacket.connack(MQTTConnack(sessionPresent: false, code: .accepted)).encode(into: &bytes)
            bytes.withUnsafeBytes { link.stream(stream, didReceive: $0) }
            bytes = []
            for _ in 0..<16_384 { try MQTTPacket.pubrel(packetID: 1).encode(into: &bytes) }
            for _ in 0..<15 { bytes.withUnsafeBytes { link.stream(stream, didReceive: $0) } }
            let early = ends.count
            for _ in 0..<2 { bytes.withUnsafeBytes { link.stream(stream, didReceive: $0) } }
            return (early, ends.map(\.reason))
        }
        #expect(early == 0)
        #expect(reasons.count == 1)
        #expect(reasons.first?.contains("does not read") == true)
    }
}
