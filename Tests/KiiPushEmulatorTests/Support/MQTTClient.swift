import KiiPushCore
import Testing

/// A minimal MQTT client: one connection, one packet at a time, by default a clean session.
final class MQTTClient {
    private let connection: RawConnection
    private let version: MQTTVersion
    private var decoder: FrameDecoder
    private var received: [MQTTPacket] = []
    /// Whether CONNACK reported an existing session.
    private(set) var hadSession = false

    /// Connects as `receiver` and requires that the broker accepts.
    init(
        port: UInt16, _ receiver: Receiver, version: MQTTVersion = .v3_1_1, cleanSession: Bool = true
    ) throws {
        self.connection = try RawConnection(port: port)
        self.version = version
        self.decoder = FrameDecoder(version: version)
        try self.send(
            .connect(
                MQTTConnect(
                    version: version,
                    clientID: receiver.topic,
                    cleanSession: cleanSession,
                    keepAlive: 300,
                    username: receiver.username,
                    password: Secret(receiver.password)
                )
            )
        )
        guard case .connack(let connack) = try self.receive() else { throw RawHTTP.Failure(what: "no CONNACK") }
        try #require(connack.code == .accepted)
        self.hadSession = connack.sessionPresent
    }

    /// Subscribes and returns the granted QoS.
    func subscribe(to topic: String, qos: QoS) throws -> QoS? {
        try self.send(.subscribe(MQTTSubscribe(packetID: 1, entries: [.init(filter: topic, qos: qos)])))
        guard case .suback(let suback) = try self.receive() else { throw RawHTTP.Failure(what: "no SUBACK") }
        return try #require(suback.grants.first)
    }

    func receivePublish() throws -> MQTTPublish {
        guard case .publish(let publish) = try self.receive() else { throw RawHTTP.Failure(what: "no PUBLISH") }
        return publish
    }

    func acknowledge(_ publish: MQTTPublish) throws {
        try self.send(.puback(packetID: try #require(publish.packetID)))
    }

    /// Reads once from the connection; `true` if the broker has closed it.
    func isClosedByPeer() throws -> Bool { try self.connection.isClosedByPeer() }

    private func send(_ packet: MQTTPacket) throws {
        var bytes: [UInt8] = []
        try packet.encode(into: &bytes, version: self.version)
        try self.connection.send(bytes)
    }

    private func receive() throws -> MQTTPacket {
        while self.received.isEmpty {
            self.received = try self.decoder.packets(from: try self.connection.receiveBytes())
        }
        return self.received.removeFirst()
    }
}
