import TestSupport
import Testing

@testable import KiiPushCore

/// The pipeline and its links, turn by turn, on a loop's thread and without a broker. What is found there is judged on the
/// test's own thread, since nobody knows elsewhere which test it is of.
@Suite struct ReceivePipelineTests {
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
        func link(topic: String = "topic", installation: Int64 = 1) -> BrokerLink {
            BrokerLink(
                installation: installation,
                configuration: MQTTSession.Configuration(clientID: "client", topicFilter: topic),
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
            let (isFailure, before, after) = try await loop.run {
                let path = directory + "/inbox.sqlite"
                let inbox = try RecoverableInbox(path: path, configuration: Inbox.Configuration())
                let store = FileMessageStore(inbox, in: InboxRoom(of: path), longestDelay: .seconds(1))
                let line = Line(store, on: loop)
                _ = try store.installation(id: "i", of: nil)
                line.pipeline.received(Self.arrival(line.link()))
                line.turn()
                let before = store.ledger
                let pages = Locked<[DeliveryPage]>([])
                line.pipeline.loopEnds()
                line.mailbox.load(DeliveryLoad(installation: 1, kind: .waiting, limit: 10)) { page in
                    pages.withLock { $0.append(page) }
                }
                line.turn()
                return (pages.withLock { $0 }.map(\.isFailure), before, store.ledger)
            }
            #expect(isFailure == [true])
            #expect(before.waiting == 1)
            #expect(after.waiting == 1)
            #expect(after.running == 0)
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
        let carried = try await loop.run {
            let link = Line(MemoryMessageStore(), on: loop).link()
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

    @Test func aBrokerThatDoesNotReadIsLeft() async throws {
        let loop = try EventLoop()
        defer { loop.shutdown() }
        let (early, reasons) = try await loop.run {
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
            let early = ends.count
            for _ in 0..<2 { bytes.withUnsafeBytes { link.stream(stream, didReceive: $0) } }
            return (early, ends.map(\.reason))
        }
        #expect(early == 0)
        #expect(reasons.count == 1)
        #expect(reasons.first?.contains("does not read") == true)
    }

    @Test func inMemoryWhatIsProvenIsForgottenOfOneInstallationAlone() async throws {
        let loop = try EventLoop()
        defer { loop.shutdown() }
        let counts = try await loop.run {
            let store = MemoryMessageStore()
            let line = Line(store, on: loop)
            let arrivals = [1, 2, 1, 2].map { Self.arrival(line.link(installation: $0)) }
            _ = store.commit(TurnWork(arrivals: arrivals))
            /// How many rows of each installation may be repeated by its broker.
            func counts() -> [Int] { [1, 2].map { store.unproven(installation: $0).count } }
            var all = [counts()]
            let done = [2, 3, 1].map { sequence in
                DeliveryChange(
                    sequence: sequence, installation: (sequence + 1) % 2 + 1, verdict: .done(.newData), attempts: 1,
                    crashes: 0)
            }
            _ = store.commit(TurnWork(orders: [.record(done, committed: nil)]))
            // One in hand is not forgotten, whatever its acknowledgement.
            for (installation, sequence) in [(1, 2), (2, 4), (1, 2), (1, 3)] as [(Int64, Int64)] {
                store.proven(installation: installation, through: sequence)
                all.append(counts())
            }
            return all
        }
        #expect(counts == [[2, 2], [1, 2], [1, 1], [1, 1], [0, 1]])
    }

    @Test func topicsAreTheSameWhenTheirBytesAre() async throws {
        let loop = try EventLoop()
        defer { loop.shutdown() }
        let outcomes = try await loop.run {
            let store = MemoryMessageStore()
            // Equal to Swift.
            let (topic, other) = ("caf\u{e9}", "cafe\u{301}")
            let link = Line(store, on: loop).link(topic: topic)
            /// Whether it is new, and whether its topic is another than the link's.
            func outcome(of arrival: Arrival) -> [Bool] {
                let outcome = store.commit(TurnWork(arrivals: [arrival]))
                return switch outcome.arrivals.first {
                case .new: [true] + outcome.messages.map(\.isUnexpectedTopic)
                case .redelivered: [false]
                case nil: []
                }
            }
            let first = Self.arrival(link, topic: topic)
            var outcomes = [outcome(of: first)]
            link.stored(1, first)
            outcomes.append(outcome(of: Self.arrival(link, topic: other, duplicate: true, ticket: 2)))
            let longer = Self.arrival(link, topic: topic, duplicate: true, ticket: 3, truncatedLength: 9)
            outcomes.append(outcome(of: longer))
            outcomes.append(outcome(of: Self.arrival(link, topic: topic, duplicate: true, ticket: 4)))
            return outcomes
        }
        #expect(outcomes == [[true, false], [true, true], [true, false], [false]])
    }
}
