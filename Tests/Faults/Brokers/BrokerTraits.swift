import KiiPushCore
import TestSupport

/// Measured behaviour of a broker towards a client that does not acknowledge.
package struct BrokerTraits: Sendable, Hashable {
    /// The moment of the redelivery of an unacknowledged message.
    package enum Redelivery: Sendable, Hashable {
        /// No redelivery within the measured time.
        case never
        /// The delay, and whether the redelivery keeps its packet identifier.
        case after(Duration, keepsIdentifier: Bool)
    }

    /// Number of messages that the broker sends before it needs the first acknowledgement.
    package var window: Int
    /// On the same connection, counted from its start.
    package var whileConnected: Redelivery
    /// On the next connection, counted from its SUBACK.
    package var onReconnect: Redelivery
    /// Share of the redelivered messages with DUP, from 0 to 1.
    package var markedDuplicates: Double

    /// Takes a bit more than twice `patience`.
    package static func measure(_ server: BrokerServer, patience: Duration) async throws -> BrokerTraits {
        try await onThread { try BrokerTraits(server, patience: patience) }
    }

    private init(_ server: BrokerServer, patience: Duration) throws {
        let topic = "push/traits"
        func connected() throws -> PlainClient {
            let client = try server.client(topic, cleanSession: false)
            guard try client.subscribe(to: topic) == .atLeastOnce else { throw TestFailure("QoS 1 was not granted") }
            return client
        }
        try connected().disconnect()
        let publisher = try server.client("kii-publisher", cleanSession: true)
        // More than any of the brokers sends at once.
        try publisher.publish((1...1500).map { Array("{\"n\":\($0)}".utf8) }, on: topic)
        try publisher.disconnect()

        var client = try connected()
        let begun = MonotonicInstant.now()
        let first = try client.messages(untilQuietFor: .seconds(2))
        guard first.count > 1, let taken = first[0].packetID else { throw TestFailure("\(first.count) messages came") }
        self.window = first.count
        var identifiers: [[UInt8]: UInt16?] = [:]
        for message in first { identifiers[message.payload] = message.packetID }
        var again: [MQTTPublish] = []
        func next(since start: MonotonicInstant) throws -> Redelivery {
            while let message = try client.message(within: patience - (.now() - start)) {
                guard let former = identifiers[message.payload] else { continue }
                let after = MonotonicInstant.now() - start
                again = try [message] + client.messages(untilQuietFor: .seconds(2))
                return .after(after, keepsIdentifier: former == message.packetID)
            }
            return .never
        }
        self.whileConnected = try next(since: begun)
        // The first message is acknowledged, so a broker that counts anew gives its identifier to the second.
        try client.acknowledge(taken)
        identifiers[first[0].payload] = nil
        for message in try client.messages(untilQuietFor: .seconds(1)) {
            identifiers[message.payload] = message.packetID
        }
        client.cut()
        client = try connected()
        self.onReconnect = try next(since: .now())
        self.markedDuplicates =
            again.isEmpty ? 0 : Double(again.count { $0.duplicate }) / Double(again.count)
        try client.disconnect()
    }
}
