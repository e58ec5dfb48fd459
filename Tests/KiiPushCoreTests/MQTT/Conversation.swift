@testable import KiiPushCore

/// A session and its broker as a transcript: each step returns the session's reactions.
struct Conversation {
    /// One reaction. Events come first, then messages, packets and the close, in the order in which a caller takes
    /// them.
    enum Said: Equatable {
        case event(MQTTSession.Event)
        case message(MQTTSession.InboundMessage)
        case sent(MQTTPacket)
        case close(MQTTSession.Close)

        static func message(
            _ payload: String,
            _ packetID: UInt16? = nil,
            ticket: UInt64? = nil,
            duplicate: Bool = false
        ) -> Said {
            .message(
                MQTTSession.InboundMessage(
                    topic: "t",
                    payload: Array(payload.utf8),
                    qos: packetID == nil ? .atMostOnce : .atLeastOnce,
                    duplicate: duplicate,
                    packetID: packetID,
                    ticket: ticket
                )
            )
        }
    }

    var session: MQTTSession

    init(_ change: (inout MQTTSession.Configuration) -> Void = { _ in }) {
        var configuration = MQTTSession.Configuration(clientID: "t", topicFilter: "t", keepAlive: .seconds(60))
        change(&configuration)
        self.session = MQTTSession(configuration: configuration)
    }

    /// A conversation with a granted subscription, at the time 0.
    static func connected(_ change: (inout MQTTSession.Configuration) -> Void = { _ in }) -> Conversation {
        var conversation = Conversation(change)
        conversation.reconnect()
        return conversation
    }

    /// Opens another connection of the same session, up to SUBACK.
    @discardableResult
    mutating func reconnect(sessionPresent: Bool = false, at milliseconds: Int = 0) -> [Said] {
        self.session.transportClosed()
        return self.open(at: milliseconds)
            + self.broker(.accepted(sessionPresent: sessionPresent), at: milliseconds)
            + self.broker(.granted(.atLeastOnce), at: milliseconds)
    }

    mutating func open(at milliseconds: Int = 0) -> [Said] {
        self.step { $0.transportConnected(now: .at(milliseconds), into: &$1) }
    }

    mutating func broker(_ packets: MQTTPacket..., at milliseconds: Int = 0) -> [Said] {
        self.bytes(packets.flatMap(\.bytes), at: milliseconds)
    }

    mutating func bytes(_ bytes: [UInt8], at milliseconds: Int = 0) -> [Said] {
        self.step { session, output in
            bytes.withUnsafeBytes { session.received($0, now: .at(milliseconds), into: &output) }
        }
    }

    mutating func acknowledge(_ ticket: UInt64) -> [Said] {
        self.step { $0.acknowledge(ticket: ticket, into: &$1) }
    }

    mutating func acknowledge(through ticket: UInt64) -> [Said] {
        self.step { $0.acknowledge(through: ticket, into: &$1) }
    }

    mutating func timer(at milliseconds: Int) -> [Said] {
        self.step { $0.timerFired(now: .at(milliseconds), into: &$1) }
    }

    mutating func probe(within milliseconds: Int, at time: Int) -> [Said] {
        self.step { $0.probe(within: .milliseconds(milliseconds), now: .at(time), into: &$1) }
    }

    mutating func disconnect() -> [Said] {
        self.step { $0.disconnect(into: &$1) }
    }

    /// In milliseconds.
    var deadline: Int? {
        self.session.nextDeadline.map { Int($0.nanoseconds / 1_000_000) }
    }

    private mutating func step(_ body: (inout MQTTSession, inout MQTTSession.Output) -> Void) -> [Said] {
        var output = MQTTSession.Output()
        body(&self.session, &output)
        var decoder = FrameDecoder()
        let packets = (try? decoder.packets(from: output.bytes)) ?? []
        return output.events.map(Said.event) + output.messages.map(Said.message) + packets.map(Said.sent)
            + (output.close.map { [.close($0)] } ?? [])
    }
}

extension MonotonicInstant {
    static func at(_ milliseconds: Int) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: Int64(milliseconds) * 1_000_000)
    }
}

extension MQTTPacket {
    /// Empty if the packet cannot be encoded.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        try? self.encode(into: &bytes)
        return bytes
    }

    static func accepted(sessionPresent: Bool = false) -> MQTTPacket {
        .connack(MQTTConnack(sessionPresent: sessionPresent, code: .accepted))
    }

    static func granted(_ qos: QoS?) -> MQTTPacket {
        .suback(MQTTSuback(packetID: 1, grants: [qos]))
    }

    static func publish(_ payload: String, _ packetID: UInt16? = nil, duplicate: Bool = false) -> MQTTPacket {
        .publish(
            MQTTPublish(
                topic: "t",
                payload: Array(payload.utf8),
                qos: packetID == nil ? .atMostOnce : .atLeastOnce,
                duplicate: duplicate,
                packetID: packetID
            )
        )
    }

    static func subscribe(_ qos: QoS = .atLeastOnce) -> MQTTPacket {
        .subscribe(MQTTSubscribe(packetID: 1, entries: [MQTTSubscribe.Entry(filter: "t", qos: qos)]))
    }

    static func connect(_ version: MQTTVersion = .v3_1_1, cleanSession: Bool = false) -> MQTTPacket {
        .connect(MQTTConnect(version: version, clientID: "t", cleanSession: cleanSession, keepAlive: 60))
    }
}
