import Testing

@testable import KiiPushCore

extension Pipeline {
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
    static func test(_ pipeline: Pipeline, filter: RedeliveryFilter = RedeliveryFilter()) -> BrokerLink {
        BrokerLink(
            installation: 1,
            configuration: MQTTSession.Configuration(clientID: "client", topicFilter: "topic"),
            filter: filter, connectionBase: 100, pipeline: pipeline, verifiesCertificates: true, report: { _ in })
    }
}

/// Links on a loop's thread, without a broker. The expectations run on the test's own thread, because other threads do
/// not know to which test they belong.
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

    /// Runs `body` on a loop's thread. The test itself reports the stream's events to the link.
    private static func withLink<Result: Sendable>(
        over store: @escaping @Sendable () -> any Store = { MemoryStore() },
        filter: RedeliveryFilter = RedeliveryFilter(),
        _ body: @escaping @Sendable (BrokerLink, any ByteStream, Pipeline) throws -> Result
    ) async throws -> Result {
        let loop = try EventLoop()
        defer { loop.shutdown() }
        return try await loop.run {
            let pipeline = Pipeline.idle(over: store(), on: loop)
            let link = BrokerLink.test(pipeline, filter: filter)
            let stream = loop.openStream(try Self.target().stream, delegate: link)
            defer { stream.close() }
            link.connect(to: try Self.target()) { _ in }
            return try body(link, stream, pipeline)
        }
    }

    private static let rowFive = RedeliveryFilter(restoring: [(sequence: 5, packetID: 7)])

    @Sendable private static func unwrittenStore() -> any Store {
        let store = FlakyStore(MemoryStore())
        store.hasMoreToWrite = true
        return store
    }

    private static func deliver(
        _ packets: [MQTTPacket], to link: BrokerLink, over stream: any ByteStream
    ) throws {
        var bytes: [UInt8] = []
        for packet in packets { try packet.encode(into: &bytes) }
        bytes.withUnsafeBytes { link.stream(stream, didReceive: $0) }
    }

    private static func carries(_ connection: Int64, _ link: BrokerLink) -> Bool {
        link.isCurrent(Self.arrival(link, connection: connection))
    }

    @Test func anAcknowledgementLeavesOnAConnectionThatStandsAlone() async throws {
        let carried = try await Self.withLink { link, stream, _ in
            var carried = [Self.carries(100, link)]
            link.streamDidConnect(stream)
            carried += [Self.carries(101, link), Self.carries(100, link)]
            link.disconnect()
            carried.append(Self.carries(101, link))
            link.connect(to: try Self.target()) { _ in }
            carried.append(Self.carries(101, link))
            link.disconnect()
            return carried
        }
        #expect(carried == [false, true, false, false, false])
    }

    /// The next connection may have another session.
    @Test func aMessageIsTheLatestUntilTheNextConnectionBegins() async throws {
        let latest = try await Self.withLink { link, stream, _ in
            func isLatest() -> Bool { link.isLatest(Self.arrival(link, connection: 101)) }
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

    /// The broker may redeliver to the next process a message that was stored after the agent stopped.
    @Test func aMessageIsTheLatestUntilTheNextLinkIsMade() async throws {
        let latest = try await Self.withLink { link, stream, pipeline in
            func isLatest() -> Bool { link.isLatest(Self.arrival(link, connection: 101)) }
            link.streamDidConnect(stream)
            link.disconnect()
            var latest = [isLatest()]
            pipeline.link(
                installation: link.installation,
                configuration: MQTTSession.Configuration(clientID: "c", topicFilter: "c"),
                verifiesCertificates: true, report: { _ in }, completion: { _ in })
            latest.append(isLatest())
            return latest
        }
        #expect(latest == [true, false])
    }

    /// The broker may never send SUBACK.
    @Test func withConnackItIsKnownWhetherTheBrokerRepeatsEarlierRows() async throws {
        let noted = try await Self.withLink(over: { FlakyStore(MemoryStore()) }, filter: Self.rowFive) {
            link, stream, pipeline in
            link.streamDidConnect(stream)
            try Self.deliver([.connack(MQTTConnack(sessionPresent: true, code: .accepted))], to: link, over: stream)
            return (pipeline.store as? FlakyStore)?.noted
        }
        #expect(noted == [5, 4])
    }

    /// Bytes that arrive before CONNECT was sent are no answer to CONNECT.
    @Test func aBrokerThatSpeaksFirstLeavesTheDoubt() async throws {
        let noted = try await Self.withLink(over: Self.unwrittenStore, filter: Self.rowFive) {
            link, stream, pipeline in
            link.streamDidConnect(stream)
            let bytes: [UInt8] = [0xD0]
            bytes.withUnsafeBytes { link.stream(stream, didReceive: $0) }
            return (pipeline.store as? FlakyStore)?.noted
        }
        #expect(noted == [5])
    }

    /// Without CONNECT, the broker has begun no new session: the next process may know its repetitions.
    @Test func aLinkThatEndsBeforeConnectTakesItsDoubtBack() async throws {
        let noted = try await Self.withLink(over: Self.unwrittenStore, filter: Self.rowFive) {
            link, stream, pipeline in
            link.streamDidConnect(stream)
            link.disconnect()
            return (pipeline.store as? FlakyStore)?.noted
        }
        #expect(noted == [5, 4])
    }

    /// The commit that wrote the doubt of an ended connection says nothing about the next one.
    @Test func connectWaitsForTheDoubtOfItsOwnConnection() async throws {
        let begun = try await Self.withLink(over: {
            let store = HeldStore(MemoryStore())
            (store.isHolding, store.hasMoreToWrite) = (true, true)
            return store
        }) { link, stream, pipeline in
            let store = pipeline.store as? HeldStore
            pipeline.commit()
            link.streamDidConnect(stream)
            link.streamDidClose(stream, error: TransportError(.connectionLost, detail: "cut"))
            store?.step()
            pipeline.afterCommit()
            pipeline.commit()
            link.connect(to: try Self.target()) { _ in }
            link.streamDidConnect(stream)
            store?.step()
            pipeline.afterCommit()
            var begun = [Self.carries(101, link)]
            pipeline.commit()
            store?.hasMoreToWrite = false
            store?.step()
            pipeline.afterCommit()
            begun.append(Self.carries(101, link))
            link.disconnect()
            return begun
        }
        #expect(begun == [false, true])
    }

    /// The row may be written after the broker has begun a new session.
    @Test func aRowOfAnEarlierConnectionIsNeverCompared() async throws {
        let noted = try await Self.withLink(over: { FlakyStore(MemoryStore()) }) { link, stream, pipeline in
            link.streamDidConnect(stream)
            link.streamDidClose(stream, error: TransportError(.connectionLost, detail: "cut"))
            link.connect(to: try Self.target()) { _ in }
            link.streamDidConnect(stream)
            link.stored(5, Self.arrival(link, connection: 101))
            try Self.deliver([.connack(MQTTConnack(sessionPresent: false, code: .accepted))], to: link, over: stream)
            return (pipeline.store as? FlakyStore)?.noted
        }
        #expect(noted == [5])
    }

    /// The broker may begin a new session while the store still writes a row of the old one.
    @Test func aRowInTheCommitUnderWayIsInDoubtBeforeTheNextConnect() async throws {
        let noted = try await Self.withLink(over: {
            let store = HeldStore(MemoryStore())
            store.isHolding = true
            return FlakyStore(store)
        }) { link, stream, pipeline in
            link.streamDidConnect(stream)
            let message = MQTTPublish(topic: "topic", payload: [1], qos: .atLeastOnce, packetID: 5)
            try Self.deliver(
                [.connack(MQTTConnack(sessionPresent: true, code: .accepted)), .publish(message)], to: link,
                over: stream)
            pipeline.commit()
            link.streamDidClose(stream, error: TransportError(.connectionLost, detail: "cut"))
            link.connect(to: try Self.target()) { _ in }
            link.streamDidConnect(stream)
            return (pipeline.store as? FlakyStore)?.noted
        }
        #expect(noted == [0])
    }

    /// CONNECT could make the broker begin a new session, and nobody would read CONNACK.
    @Test func aLinkThatStopsSendsNoConnect() async throws {
        let begun = try await Self.withLink(over: Self.unwrittenStore) { link, stream, pipeline in
            link.streamDidConnect(stream)
            link.stopReading()
            (pipeline.store as? FlakyStore)?.hasMoreToWrite = false
            pipeline.afterCommit()
            return Self.carries(101, link)
        }
        #expect(!begun)
    }

    /// A link begins its session and sends CONNECT only after the store has written everything.
    @Test func connectWaitsUntilTheStoreHasWritten() async throws {
        let begun = try await Self.withLink(over: Self.unwrittenStore) { link, stream, pipeline in
            link.streamDidConnect(stream)
            pipeline.afterCommit()
            var begun = [Self.carries(101, link)]
            (pipeline.store as? FlakyStore)?.hasMoreToWrite = false
            pipeline.afterCommit()
            begun.append(Self.carries(101, link))
            return begun
        }
        #expect(begun == [false, true])
    }

    /// A remote store still writes until its answer arrives.
    @Test func connectWaitsForTheCommitThatIsUnderWay() async throws {
        let begun = try await Self.withLink(over: {
            let store = HeldStore(MemoryStore())
            (store.isHolding, store.hasMoreToWrite) = (true, true)
            return store
        }) { link, stream, pipeline in
            let store = pipeline.store as? HeldStore
            link.streamDidConnect(stream)
            pipeline.commit()
            // The running commit contains everything that was noted.
            store?.hasMoreToWrite = false
            pipeline.afterCommit()
            var begun = [Self.carries(101, link)]
            store?.release()
            pipeline.afterCommit()
            begun.append(Self.carries(101, link))
            return begun
        }
        #expect(begun == [false, true])
    }

    @Test func aBrokerThatDoesNotReadIsLeft() async throws {
        let loop = try EventLoop()
        defer { loop.shutdown() }
        let (early, reasons) = try await loop.run {
            let link = BrokerLink.test(.idle(over: MemoryStore(), on: loop))
            let stream = loop.openStream(try Self.target().stream, delegate: link)
            defer { stream.close() }
            var ends: [BrokerLink.End] = []
            link.connect(to: try Self.target()) { ends.append($0) }
            // The link's own stream connects only after this turn, so all sent bytes stay in its buffer.
            link.streamDidConnect(stream)
            try Self.deliver([.connack(MQTTConnack(sessionPresent: false, code: .accepted))], to: link, over: stream)
            var bytes: [UInt8] = []
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
