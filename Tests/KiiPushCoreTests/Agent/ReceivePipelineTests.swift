import TestSupport
import Testing

@testable import KiiPushCore

/// The pipeline and its links, turn by turn, on a loop's thread and without a broker.
@Suite(.timeLimit(.minutes(10))) struct ReceivePipelineTests {
    /// A pipeline around a store, whose delivery takes nothing.
    private struct Line {
        let pipeline: ReceivePipeline
        let mailbox = DeliveryMailbox(wake: {})
        private let loop: EventLoop

        init(_ store: any MessageStore, on loop: EventLoop, holding fuse: Fuse? = nil) {
            self.loop = loop
            let runner = DeliveryRunner(store: self.mailbox)
            runner.shutdown()
            self.pipeline = ReceivePipeline(
                store: store, loop: loop, mailbox: self.mailbox, limits: .memory, delivery: runner, running: { [] },
                report: { _ in withExtendedLifetime(fuse) {} })
        }

        /// A link whose first connection has the number 101.
        func link(topic: String = "topic") -> BrokerLink {
            BrokerLink(
                installation: 1, configuration: MQTTSession.Configuration(clientID: "client", topicFilter: topic),
                filter: RedeliveryFilter(), connectionBase: 100, loop: self.loop, pipeline: self.pipeline,
                verifiesCertificates: true, report: { _ in })
        }

        func turn() {
            self.pipeline.commit()
            self.pipeline.afterCommit()
        }
    }

    private static func arrival(
        _ link: BrokerLink, topic: String = "topic", duplicate: Bool = false, ticket: UInt64 = 1,
        truncatedLength: Int? = nil, connection: Int64 = 100
    ) -> Arrival {
        Arrival(
            link: link,
            message: MQTTSession.InboundMessage(
                topic: topic, payload: [1], qos: .atLeastOnce, duplicate: duplicate, packetID: 5, ticket: ticket,
                truncatedLength: truncatedLength),
            connection: connection, receivedAt: .now())
    }

    private static func target() throws -> BrokerLink.Target {
        let endpoint = MQTTEndpoint(
            installationID: "i", host: "127.0.0.1", portTCP: 1, portSSL: nil, mqttTopic: "topic", username: "u",
            password: "p")
        return try BrokerLink.Target(endpoint, usesTLS: false)
    }

    @Test func theLastTurnTakesNothingInHand() async throws {
        try await withTemporaryDirectory { directory in
            let loop = try EventLoop()
            defer { loop.shutdown() }
            try await loop.run {
                let inbox = try RecoverableInbox(
                    path: directory + "/inbox.sqlite", configuration: Inbox.Configuration())
                let store = FileMessageStore(inbox, longestDelay: .seconds(1))
                let line = Line(store, on: loop)
                #expect(try store.installation(id: "i") == 1)
                line.pipeline.received(Self.arrival(line.link()))
                line.turn()
                #expect(store.ledger.waiting == 1)
                let pages = Locked<[DeliveryPage]>([])
                line.pipeline.loopEnds()
                line.mailbox.load(DeliveryLoad(installation: 1, kind: .waiting, limit: 10)) { page in
                    pages.withLock { $0.append(page) }
                }
                line.turn()
                #expect(pages.withLock { $0 }.map(\.isFailure) == [true])
                #expect(store.ledger.waiting == 1)
                #expect(store.ledger.running == 0)
            }
        }
    }

    @Test func nothingOutlivesTheLoop() async throws {
        let hasEnded = Locked(false)
        let loop = try EventLoop()
        try await loop.run {
            let fuse = Fuse { hasEnded.withLock { $0 = true } }
            let line = Line(MemoryMessageStore(), on: loop, holding: fuse)
            // Its acknowledgement waits for an outcome that does not come.
            line.pipeline.received(Self.arrival(line.link()))
            loop.setTurnDelegate(line.pipeline)
        }
        loop.shutdown()
        #expect(hasEnded.withLock { $0 })
    }

    @Test func anAcknowledgementLeavesOnAConnectionThatStandsAlone() async throws {
        let loop = try EventLoop()
        defer { loop.shutdown() }
        try await loop.run {
            let link = Line(MemoryMessageStore(), on: loop).link()
            let stream = loop.openStream(try Self.target().stream, delegate: link)
            defer { stream.close() }
            func carries(_ connection: Int64) -> Bool {
                link.stillCarries(Self.arrival(link, connection: connection))
            }
            link.connect(to: try Self.target()) { _ in }
            #expect(!carries(100))
            link.streamDidConnect(stream)
            #expect(carries(101))
            #expect(!carries(100))
            link.disconnect()
            #expect(!carries(101))
            link.connect(to: try Self.target()) { _ in }
            // The next one is on its way.
            #expect(!carries(101))
            link.disconnect()
        }
    }

    @Test func aBrokerThatDoesNotReadIsLeft() async throws {
        let loop = try EventLoop()
        defer { loop.shutdown() }
        try await loop.run {
            let link = Line(MemoryMessageStore(), on: loop).link()
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
            #expect(ends.isEmpty)
            for _ in 0..<2 { bytes.withUnsafeBytes { link.stream(stream, didReceive: $0) } }
            #expect(ends.count == 1)
            #expect(ends.first?.reason.contains("does not read") == true)
        }
    }

    @Test func topicsAreTheSameWhenTheirBytesAre() async throws {
        let loop = try EventLoop()
        defer { loop.shutdown() }
        try await loop.run {
            let store = MemoryMessageStore()
            // Equal to Swift.
            let (topic, other) = ("caf\u{e9}", "cafe\u{301}")
            let link = Line(store, on: loop).link(topic: topic)
            /// Whether it is new, and whether its topic is another than the link's.
            func outcome(of arrival: Arrival) -> [Bool] {
                switch store.commit(TurnWork(arrivals: [arrival])).arrivals.first {
                case .new(let message): [true, message.isUnexpectedTopic]
                case .redelivered: [false]
                case nil: []
                }
            }
            let first = Self.arrival(link, topic: topic)
            #expect(outcome(of: first) == [true, false])
            link.stored(1, first)
            #expect(outcome(of: Self.arrival(link, topic: other, duplicate: true, ticket: 2)) == [true, true])
            let longer = Self.arrival(link, topic: topic, duplicate: true, ticket: 3, truncatedLength: 9)
            #expect(outcome(of: longer) == [true, false])
            #expect(outcome(of: Self.arrival(link, topic: topic, duplicate: true, ticket: 4)) == [false])
        }
    }
}
