import Faults
import Foundation
import KiiPushCore
import KiiPushEmulator
import TestSupport
import Testing

@Suite struct FaultProxyTests {
    /// Connects a client through a proxy to a broker that runs `script` after its CONNACK.
    private func connected<Result: Sendable>(
        _ proxy: FaultProxy,
        broker script: @escaping @Sendable (FakeConnection) throws -> Void,
        client body: @escaping @Sendable (PlainClient) throws -> Result
    ) async throws -> Result {
        let broker = try FakeBroker()
        await proxy.forward(to: broker.port)
        async let played: Void = broker.play { broker in
            let connection = try broker.accept()
            _ = try connection.receive()
            try connection.send(.connack(MQTTConnack(sessionPresent: false, code: .accepted)))
            try script(connection)
        }
        let result = try await onThread {
            try body(
                PlainClient(port: proxy.port, clientID: "c", cleanSession: false, username: "u", password: "p"))
        }
        try await played
        // Waits until the proxy's thread has recorded all packets.
        await proxy.change { _ in }
        return result
    }

    @Test func packetsAreDroppedAndDoubled() async throws {
        let proxy = try FaultProxy()
        defer { proxy.stop() }
        let dropped = await proxy.arm(PacketRule(.publish, .toReceiver, nth: 2, .drop))
        let doubled = await proxy.arm(PacketRule(.publish, .toReceiver, nth: 3, .duplicate))
        let never = await proxy.arm(PacketRule(.publish, .toReceiver, nth: 5, .drop))
        let numbers = try await self.connected(proxy) { broker in
            for number in 1...4 { try broker.send(.message(number, packetID: UInt16(number))) }
            #expect(try broker.receiveAcknowledgements(1) == [4])
        } client: { client in
            var numbers: [UInt16] = []
            while numbers.last != 4, let packetID = try client.nextMessage().packetID { numbers.append(packetID) }
            try client.acknowledge(4)
            return numbers
        }
        #expect(numbers == [1, 3, 3, 4])
        #expect(dropped.hasHappened && doubled.hasHappened && !never.hasHappened)
        let traffic = proxy.traffic
        #expect(traffic.deliveries.mapValues(\.count) == [1: 1, 3: 2, 4: 1])
        #expect(traffic.acknowledged == [4])
        #expect(traffic.mostInFlight == 4)
    }

    @Test(arguments: Cut.allCases) func aCutComesAfterThePacketAndBeforeTheNext(cut: Cut) async throws {
        let proxy = try FaultProxy()
        defer { proxy.stop() }
        let rule = await proxy.arm(PacketRule(.publish, .toReceiver, nth: 2, .cutAfter(cut)))
        let seen = try await self.connected(proxy) { broker in
            try broker.send(
                .message(1, packetID: 1), .message(2, packetID: 2), .message(3, packetID: 3))
            #expect(throws: FakeConnection.Closed.self) { try broker.receive() }
        } client: { client in
            let messages = try [client.nextMessage(), client.nextMessage()]
            #expect(throws: TestFailure.self) { try client.nextMessage() }
            return messages.map(\.packetID)
        }
        #expect(seen == [1, 2])
        #expect(rule.hasHappened)
        #expect(proxy.traffic.cuts == 1)
        #expect(proxy.traffic.deliveries.keys.sorted() == [1, 2])
    }

    @Test func anAcknowledgementIsLostWithItsConnection() async throws {
        let proxy = try FaultProxy()
        defer { proxy.stop() }
        _ = await proxy.arm(PacketRule(.puback, .toBroker, nth: 2, .cutInstead(.reset)))
        try await self.connected(proxy) { broker in
            try broker.send(.message(1, packetID: 1), .message(2, packetID: 2))
            #expect(try broker.receiveAcknowledgements(1) == [1])
            #expect(throws: FakeConnection.Closed.self) { try broker.receive() }
        } client: { client in
            for packetID in [1, 2] as [UInt16] {
                _ = try client.nextMessage()
                try client.acknowledge(packetID)
            }
            #expect(throws: TestFailure.self) { try client.nextMessage() }
        }
        // The receiver has sent the PUBACK, though the broker never got it.
        #expect(proxy.traffic.acknowledged == [1, 2])
    }

    @Test func packetIdentifiersAreCountedAnew() async throws {
        let proxy = try FaultProxy()
        defer { proxy.stop() }
        await proxy.change { $0.renumbersPackets = true }
        let seen = try await self.connected(proxy) { broker in
            try broker.send(.message(1, packetID: 41), .message(2, packetID: 17, duplicate: true))
            #expect(try broker.receiveAcknowledgements(2) == [41, 17])
        } client: { client in
            let messages = try [client.nextMessage(), client.nextMessage()]
            for message in messages { try client.acknowledge(message.packetID ?? 0) }
            return messages
        }
        #expect(seen.map(\.packetID) == [1, 2])
        #expect(seen.map(\.duplicate) == [false, true])
        #expect(seen.map { String(decoding: $0.payload, as: UTF8.self) } == [#"{"n":1}"#, #"{"n":2}"#])
        #expect(proxy.traffic.acknowledgedOutOfOrder == 0)
    }

    @Test func serialsAreReadAndBlankedOut() async throws {
        let proxy = try FaultProxy()
        defer { proxy.stop() }
        let payloads = try await self.connected(proxy) { broker in
            for (serial, packetID) in [(41, 1), (42, 2)] as [(Int, UInt16)] {
                let payload = Array("{\"m\":\"00000\(serial)\",\"n\":7}".utf8)
                try broker.send(
                    .publish(MQTTPublish(topic: "t", payload: payload, qos: .atLeastOnce, packetID: packetID)))
            }
        } client: { client in
            try [client.nextMessage().payload, client.nextMessage().payload]
        }
        #expect(Set(payloads.map { String(decoding: $0, as: UTF8.self) }) == [#"{"m":"0000000","n":7}"#])
        #expect(proxy.traffic.deliveries[7]?.map(\.serial) == [41, 42])
    }

    /// A PUBACK that the receiver sent before its death counts, even if the broker never gets it.
    @Test func whatIsLeftUnacknowledgedIsKnownAtTheEnd() async throws {
        let proxy = try FaultProxy()
        defer { proxy.stop() }
        let hasCome = DispatchSemaphore(value: 0)
        let rule = await proxy.arm(PacketRule(.publish, .toReceiver, nth: 3, .pass)) { hasCome.signal() }
        try await self.connected(proxy) { broker in
            for number in 1...3 { try broker.send(.message(number, packetID: UInt16(number))) }
            while (try? broker.receive()) != nil {}
        } client: { client in
            for _ in 1...3 { _ = try client.nextMessage() }
            try client.acknowledge(1)
        }
        hasCome.wait()
        #expect(rule.hasHappened)
        while !proxy.traffic.isDisconnected { try await Task.sleep(for: .milliseconds(1)) }
        #expect(proxy.traffic.unacknowledgedAtEnd == [1: 2])
        #expect(proxy.traffic.acknowledged == [1])
    }

    @Test(arguments: [10, 11]) func bytesThatCannotBeReadAreCounted(limit: Int) async throws {
        let proxy = try FaultProxy()
        defer { proxy.stop() }
        // The limit leaves room for the CONNACK.
        let rule = await proxy.arm(ByteRule(bytes: limit, .reset))
        try await self.connected(proxy) { broker in
            // The PUBACK shows that the client has read CONNACK.
            #expect(try broker.receiveAcknowledgements(1) == [1])
            // No packet begins with these bytes.
            try broker.send(bytes: [UInt8](repeating: 0, count: 10))
            if limit == 10 { #expect(throws: FakeConnection.Closed.self) { try broker.receive() } }
        } client: { client in
            try client.acknowledge(1)
            _ = #expect(throws: (any Error).self) { try client.nextMessage() }
        }
        #expect(rule.hasHappened == (limit == 10))
        #expect(proxy.traffic.cuts == (limit == 10 ? 1 : 0))
    }

    @Test func whatIsSplitOrLateArrivesWhole() async throws {
        let proxy = try FaultProxy()
        defer { proxy.stop() }
        await proxy.change {
            $0.splitsIntoBytes = true
            $0.delay = .milliseconds(2)
        }
        let seen = try await self.connected(proxy) { broker in
            for number in 1...20 { try broker.send(.message(number, packetID: UInt16(number))) }
            #expect(try broker.receiveAcknowledgements(20) == (1...20).map(UInt16.init))
        } client: { client in
            try (1...20).map { _ in
                let message = try client.nextMessage()
                try client.acknowledge(message.packetID ?? 0)
                return message.packetID
            }
        }
        #expect(seen == (1...20).map(UInt16.init))
    }

    @Test func aDeadLinkTellsNeitherSide() async throws {
        let proxy = try FaultProxy()
        defer { proxy.stop() }
        let (isDead, isSaid) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let (acknowledged, end) = AsyncStream<Void>.makeStream()
        async let messages = {
            // The stream also ends if the script fails.
            defer { end.finish() }
            return try await self.connected(proxy) { broker in
                #expect(try broker.receiveAcknowledgements(1) == [8])
                end.finish()
                isDead.wait()
                try broker.send(.message(1, packetID: 1))
                isSaid.signal()
            } client: { client in
                try client.acknowledge(8)
                isSaid.wait()
                return try client.messages(untilQuietFor: .milliseconds(200)).count
            }
        }()
        for await _ in acknowledged {}
        #expect(await proxy.swallow([.toReceiver]) == 1)
        isDead.signal()
        #expect(try await messages == 0)
        #expect(proxy.traffic.deliveries.isEmpty)
    }

    @Test func connectionsAreRefused() async throws {
        let proxy = try FaultProxy()
        defer { proxy.stop() }
        await proxy.forward(to: try FakeBroker().port)
        await proxy.change { $0.refusesConnections = true }
        await #expect(throws: TestFailure.self) {
            try await onThread {
                _ = try PlainClient(port: proxy.port, clientID: "c", cleanSession: false, username: "u", password: "p")
            }
        }
        #expect(proxy.traffic.refused == 1)
        #expect(proxy.traffic.connections == 0)
    }
}
