import Glibc
package import KiiPushCore

/// An MQTT client that a test controls packet by packet, over a blocking socket. For one thread.
package final class PlainClient {
    /// Limit of unacknowledged messages while publishing.
    private static let publishWindow = 64

    package private(set) var sessionPresent = false
    private let descriptor: Int32
    private var decoder = FrameDecoder()
    private var packets: [MQTTPacket] = []

    /// Connects and waits for CONNACK.
    ///
    /// - Throws: ``TestFailure`` if nobody listens, the broker refuses, or the broker sends nothing for ten minutes.
    package init(port: UInt16, clientID: String, cleanSession: Bool, username: String, password: Secret) throws {
        guard let descriptor = Loopback.connected(to: port) else {
            throw TestFailure("nobody listens on port \(port)")
        }
        self.descriptor = descriptor
        var limit = timeval(tv_sec: 600, tv_usec: 0)
        setsockopt(self.descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var one: Int32 = 1
        setsockopt(self.descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        try self.send(
            .connect(
                MQTTConnect(
                    clientID: clientID, cleanSession: cleanSession, keepAlive: 0, username: username,
                    password: password)))
        guard case .connack(let connack) = try self.receive() else { throw TestFailure("no CONNACK") }
        guard connack.code == .accepted else { throw TestFailure("refused: \(connack.code)") }
        self.sessionPresent = connack.sessionPresent
    }

    deinit { close(self.descriptor) }

    /// Subscribes and returns the granted QoS; `nil` for a refusal.
    package func subscribe(to topic: String, _ qos: QoS = .atLeastOnce) throws -> QoS? {
        try self.send(.subscribe(MQTTSubscribe(packetID: 1, entries: [.init(filter: topic, qos: qos)])))
        var passed: [MQTTPacket] = []
        while true {
            let packet = try self.receive()
            // A session's messages may come before SUBACK.
            guard case .suback(let suback) = packet else {
                passed.append(packet)
                continue
            }
            self.packets = passed + self.packets
            guard suback.grants.count == 1 else { throw TestFailure("\(suback.grants.count) grants for one topic") }
            return suback.grants[0]
        }
    }

    /// Publishes at QoS 1, and returns when the broker has acknowledged all.
    package func publish(_ payloads: [[UInt8]], on topic: String) throws {
        var (sent, acknowledged) = (0, 0)
        while acknowledged < payloads.count {
            while sent < payloads.count, sent - acknowledged < PlainClient.publishWindow {
                let packetID = UInt16(sent % 0xFFFF + 1)
                try self.send(
                    .publish(
                        MQTTPublish(topic: topic, payload: payloads[sent], qos: .atLeastOnce, packetID: packetID)))
                sent += 1
            }
            guard case .puback = try self.receive() else { throw TestFailure("no PUBACK") }
            acknowledged += 1
        }
    }

    /// The next message, or `nil` if none comes in time. The caller has to acknowledge it.
    package func message(within limit: Duration) throws -> MQTTPublish? {
        let deadline = MonotonicInstant.now() + limit
        while let packet = try self.receive(within: max(.zero, deadline - .now())) {
            if case .publish(let message) = packet { return message }
        }
        return nil
    }

    /// The next message. The caller has to acknowledge it.
    ///
    /// - Throws: ``TestFailure`` if the connection ends, or no message comes for ten minutes.
    package func nextMessage() throws -> MQTTPublish {
        guard let message = try self.message(within: .seconds(600)) else {
            throw TestFailure("no message for ten minutes")
        }
        return message
    }

    /// All messages until none has come for `quiet`. The caller has to acknowledge them.
    package func messages(untilQuietFor quiet: Duration) throws -> [MQTTPublish] {
        var messages: [MQTTPublish] = []
        while let message = try self.message(within: quiet) { messages.append(message) }
        return messages
    }

    package func acknowledge(_ packetID: UInt16) throws { try self.send(.puback(packetID: packetID)) }

    package func cut() { shutdown(self.descriptor, Int32(SHUT_RDWR)) }

    /// Sends DISCONNECT and waits until the broker closes. By then it has processed all earlier packets.
    package func disconnect() throws {
        try self.send(.disconnect)
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while read(self.descriptor, &bytes, bytes.count) > 0 {}
    }

    private func send(_ packet: MQTTPacket) throws {
        var bytes: [UInt8] = []
        try packet.encode(into: &bytes)
        // A blocking socket sends all, unless the connection is gone.
        guard Glibc.send(self.descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
            throw TestFailure("the broker closed the connection")
        }
    }

    private func receive() throws -> MQTTPacket {
        guard let packet = try self.receive(within: .seconds(600)) else {
            throw TestFailure("the broker said nothing for ten minutes")
        }
        return packet
    }

    private func receive(within limit: Duration) throws -> MQTTPacket? {
        while self.packets.isEmpty {
            var entry = pollfd(fd: self.descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, Int32(clamping: limit.wholeMillisecondsRoundedUp)) > 0 else { return nil }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = read(self.descriptor, &buffer, buffer.count)
            guard count > 0 else { throw TestFailure("the broker closed the connection") }
            var packets: [MQTTPacket] = []
            try self.decoder.decode(buffer.span.bytes.extracting(first: count)) { (header, body) throws(MQTTError) in
                packets.append(try MQTTPacket(header: header, body: body))
            }
            self.packets += packets
        }
        return self.packets.removeFirst()
    }
}
