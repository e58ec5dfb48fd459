/// A client's session with a broker, over any number of connections: events in, bytes and messages out. It holds no socket,
/// clock or task. A message of QoS 1 is acknowledged when its ticket opens the gate, in order of reception, on the
/// connection that brought it and on no other.
///
/// QoS 2 is never asked for. Where a broker sends it all the same, out of a session that other software has left
/// behind, refusing it would end every connection with the same error. PUBREC takes the place of PUBACK in the queue, and
/// PUBREL is answered whatever it names (MQTT 3.1.1, 4.3.3). The session marks a message whose identifier was received
/// before and not released since; it remembers such identifiers as long as the process lives.
package struct MQTTSession: Sendable {
    private enum State {
        /// There is no connection. Left by `transportConnected`.
        case disconnected
        /// CONNECT was sent. Left for `awaitingSuback` or `connected` by CONNACK 0, for `closing` by anything else.
        case awaitingConnack
        /// SUBSCRIBE was sent; messages of a resumed session come already. Left for `connected` by a grant, for
        /// `closing` by a refusal, an error, silence or `disconnect`.
        case awaitingSuback(sessionPresent: Bool?)
        /// The subscription stands. Left for `closing` by an error, silence or `disconnect`.
        case connected
        /// The output asked to close: nothing more is read or said. Like every state, left by `transportClosed`.
        case closing
    }

    /// SUBSCRIBE is the one request that needs a packet identifier, and there is one at a time.
    private static let subscribePacketID: UInt16 = 1

    /// Changes take effect with the next connection.
    package var configuration: Configuration
    /// How many connections there were, the present one included.
    package private(set) var generation: UInt64 = 0

    /// The configuration of the present connection.
    private var current: Configuration
    private var state = State.disconnected
    private var decoder = FrameDecoder()
    private var topic: SharedTopic
    private var queue = AcknowledgementQueue()
    private var proof = ArrivalProof(firstTicket: 1)
    /// `nil` without a connection.
    private var liveness: Liveness?
    /// When the broker was heard last on this connection, or reading went on after a pause.
    package var lastReceived: MonotonicInstant? { self.liveness?.lastReceived }
    private var isReadingPaused = false
    private var redeliveryDeadline: MonotonicInstant?
    private var expectsSession: Bool
    /// The CONNECTs since the last one that the broker is known to have accepted, the present one included. Each of those
    /// without an answer may have begun a new session.
    private var connectsWithoutAnswer = 0
    /// Whether the broker may have begun a new session that this side has not heard of.
    package var hasUnansweredConnect: Bool { self.connectsWithoutAnswer > 0 }
    /// What the broker granted in the session that it holds.
    private var grantedQoS: QoS?
    /// The identifiers of messages of QoS 2 that the broker has not released yet.
    private var unreleased: Set<UInt16> = []
    /// Whether the present connection's first packet with an identifier was PUBREL, which leaves open what identifier the
    /// first message would have had.
    package private(set) var beganWithRelease = false
    /// The present connection has brought no message with an identifier.
    private var isBeginning = true

    package init(configuration: Configuration) {
        self.configuration = configuration
        self.current = configuration
        self.expectsSession = configuration.expectsSession
        self.topic = SharedTopic(configuration.topicFilter)
    }

    /// The broker has accepted the client: messages may come, and acknowledgements go.
    private var isAccepted: Bool {
        switch self.state {
        case .awaitingSuback, .connected: true
        case .disconnected, .awaitingConnack, .closing: false
        }
    }

    private var isOpen: Bool { if case .awaitingConnack = self.state { true } else { self.isAccepted } }

    /// Whether the subscription stands.
    package var isConnected: Bool { if case .connected = self.state { true } else { false } }

    /// The ticket that the next message will get.
    package var nextTicket: UInt64 { self.queue.nextTicket }

    /// The first ticket whose acknowledgement this connection owes, or else the next one: all before are sent or void.
    package var firstUnacknowledgedTicket: UInt64 { self.queue.firstUnsent }

    /// How many acknowledgements are owed. A broker may exceed its window; the caller pauses reading.
    package var unacknowledgedCount: Int { self.queue.count }

    // MARK: - Connection

    /// CONNECT is written.
    package mutating func transportConnected(now: MonotonicInstant, into output: inout Output) {
        self.transportClosed()
        self.generation += 1
        self.beganWithRelease = false
        self.isBeginning = true
        self.current = self.configuration
        self.decoder = FrameDecoder(
            version: self.current.protocolVersion, maximumPacketBytes: self.current.maximumPacketBytes)
        self.proof = ArrivalProof(firstTicket: self.queue.nextTicket)
        self.liveness = Liveness(self.current, isPaused: self.isReadingPaused, now: now)
        self.state = .awaitingConnack
        self.connectsWithoutAnswer += 1
        self.send(.connect(self.current.connect), into: &output)
    }

    /// The connection is gone, whoever ended it. What it owed is void: the broker sends these messages again.
    package mutating func transportClosed() {
        self.state = .disconnected
        self.queue.drop()
        self.liveness = nil
        self.redeliveryDeadline = nil
        self.decoder = FrameDecoder()
    }

    /// Says DISCONNECT and closes. Acknowledgements whose gate is not open are not sent.
    package mutating func disconnect(into output: inout Output) {
        guard self.isOpen else { return }
        self.send(.disconnect, into: &output)
        self.close(.afterFlush, into: &output)
    }

    /// The caller stops reading from the connection, or goes on.
    package mutating func readingPaused(_ isPaused: Bool, now: MonotonicInstant) {
        self.isReadingPaused = isPaused
        self.liveness?.readingPaused(isPaused, now: now)
    }

    // MARK: - Time

    /// When ``timerFired(now:into:)`` has something to do.
    package var nextDeadline: MonotonicInstant? {
        self.isOpen ? .earlier(self.liveness?.nextDeadline, self.redeliveryDeadline) : nil
    }

    /// Time has passed. Call it after the bytes of the turn, else an answer that lies in the socket counts as missing.
    /// Early, late and needless calls are harmless.
    package mutating func timerFired(now: MonotonicInstant, into output: inout Output) {
        guard self.isOpen else { return }
        if let answer = self.liveness?.lateAnswer(now: now) {
            output.events.append(answer == .pingresp ? .keepAliveMissed : .timedOut(waitingFor: answer))
            return self.close(.atOnce, into: &output)
        }
        if self.liveness?.isPingDue(now: now) == true {
            self.sendPing(into: &output)
            self.liveness?.pingSent(now: now)
        }
        if let deadline = self.redeliveryDeadline, deadline <= now {
            self.redeliveryDeadline = nil
            output.events.append(.redeliveryWindowPassed)
        }
    }

    /// The link may be gone without a trace, as after a sleep of the machine: has the broker asked at once, which may take as
    /// long as `limit` to answer. The keep-alive goes on as ever after that.
    package mutating func probe(within limit: Duration, now: MonotonicInstant, into output: inout Output) {
        // Before SUBACK an answer is waited for already, and not for long.
        guard self.isConnected else { return }
        self.sendPing(into: &output)
        self.liveness?.probeSent(limit: limit, now: now)
    }

    // MARK: - Acknowledgements

    /// Opens the gate of one message. A ticket of an earlier connection is ignored, here and below.
    package mutating func acknowledge(ticket: UInt64, into output: inout Output) {
        self.queue.open(ticket)
        self.sendAcknowledgements(into: &output)
    }

    /// Opens the gates of all messages up to this one.
    package mutating func acknowledge(through ticket: UInt64, into output: inout Output) {
        self.queue.open(through: ticket)
        self.sendAcknowledgements(into: &output)
    }

    private mutating func sendAcknowledgements(into output: inout Output) {
        guard self.isAccepted else { return }
        self.queue.flush(into: &output.bytes)
        let limit = self.current.maximumUnprovenAcknowledgements
        if self.proof.isDue(lastSent: self.queue.firstUnsent - 1, limit: limit) { self.sendPing(into: &output) }
    }

    // MARK: - Packets

    /// Bytes came in. Messages in front of an error are delivered; they were received.
    package mutating func received(_ bytes: UnsafeRawBufferPointer, now: MonotonicInstant, into output: inout Output) {
        guard self.isOpen else { return }
        self.liveness?.bytesReceived(now: now)
        let messages = output.messages.count
        // The decoder is out of the session while it runs, so that each packet can change the session.
        var decoder = FrameDecoder()
        swap(&decoder, &self.decoder)
        do {
            try decoder.decode(bytes.bytes) { (header, body) throws(MQTTError) in
                try self.received(header, body, now: now, into: &output)
            }
        } catch {
            // What follows the packet that ended the connection is not judged.
            if self.isOpen {
                output.events.append(.protocolError(error))
                self.close(.atOnce, into: &output)  // [MQTT-4.8.0-1]
            }
        }
        swap(&decoder, &self.decoder)
        if output.messages.count > messages { self.liveness?.messagesReceived(now: now) }
    }

    private mutating func received(
        _ header: MQTTFixedHeader, _ body: RawSpan, now: MonotonicInstant, into output: inout Output
    ) throws(MQTTError) {
        guard self.isOpen else { return }
        // [MQTT-3.2.0-1]
        guard self.isAccepted || header.type == .connack else { throw MQTTError(.unexpected, in: header.type) }
        if header.type == .publish { return try self.receivedPublish(header, body, into: &output) }
        switch try MQTTPacket(header: header, body: body, version: self.current.protocolVersion) {
        case .connack(let connack): try self.received(connack, now: now, into: &output)
        case .suback(let suback): try self.received(suback, now: now, into: &output)
        case .pingresp:
            if let ticket = self.proof.pongReceived() { output.events.append(.acknowledgementsProven(through: ticket)) }
            self.liveness?.pongReceived(pingIsAwaited: self.proof.isAwaited, now: now)
        case .pubrel(let packetID):
            if self.isBeginning { self.beganWithRelease = true }
            self.unreleased.remove(packetID)
            self.send(.pubcomp(packetID: packetID), into: &output)
        // They end what this side published, which is nothing; mosquitto's clients ignore them too.
        case .puback, .pubcomp: break
        case .connect, .publish, .pubrec, .subscribe, .pingreq, .disconnect:
            throw MQTTError(.unexpected, in: header.type)
        }
    }

    private mutating func received(
        _ connack: MQTTConnack, now: MonotonicInstant, into output: inout Output
    ) throws(MQTTError) {
        guard case .awaitingConnack = self.state else { throw MQTTError(.unexpected, in: .connack) }
        guard connack.code == .accepted else {
            // No session is begun for a client that is refused.
            self.connectsWithoutAnswer -= 1
            output.events.append(.connectionRefused(connack.code))
            if connack.code == .unacceptableProtocolVersion {
                let other: MQTTVersion = self.current.protocolVersion == .v3_1_1 ? .v3_1 : .v3_1_1
                self.configuration.protocolVersion = other
                output.events.append(.protocolVersionChanged(to: other))
            }
            return self.close(.atOnce, into: &output)
        }
        let sessionPresent = self.current.protocolVersion == .v3_1_1 ? connack.sessionPresent : nil
        let isSameSession = sessionPresent == true && self.connectsWithoutAnswer == 1
        self.connectsWithoutAnswer = 0
        if !isSameSession {
            self.unreleased = []
            self.grantedQoS = nil
            output.events.append(.sessionMayBeNew)
        }
        if sessionPresent == false {
            if self.expectsSession, !self.current.cleanSession { output.events.append(.sessionLost) }
            self.expectsSession = false
        }
        if !self.current.subscribesOnResume, sessionPresent == true, let grantedQoS = self.grantedQoS {
            return self.subscribed(sessionPresent: sessionPresent, grantedQoS: grantedQoS, now: now, into: &output)
        }
        self.state = .awaitingSuback(sessionPresent: sessionPresent)
        self.liveness?.subscribeSent(now: now)
        let qos = min(self.current.requestedQoS, .atLeastOnce)
        let entry = MQTTSubscribe.Entry(filter: self.current.topicFilter, qos: qos)
        self.send(.subscribe(MQTTSubscribe(packetID: Self.subscribePacketID, entries: [entry])), into: &output)
    }

    private mutating func received(
        _ suback: MQTTSuback, now: MonotonicInstant, into output: inout Output
    ) throws(MQTTError) {
        guard case .awaitingSuback(let sessionPresent) = self.state else { throw MQTTError(.unexpected, in: .suback) }
        guard suback.packetID == Self.subscribePacketID else {
            throw MQTTError(.unknownPacketID(suback.packetID), in: .suback)
        }
        guard suback.grants.count == 1 else { throw MQTTError(.entryCount(suback.grants.count), in: .suback) }
        if let grantedQoS = suback.grants[0] {
            self.subscribed(sessionPresent: sessionPresent, grantedQoS: grantedQoS, now: now, into: &output)
        } else {
            output.events.append(.subscriptionRefused)
            self.disconnect(into: &output)
        }
    }

    private mutating func subscribed(
        sessionPresent: Bool?, grantedQoS: QoS, now: MonotonicInstant, into output: inout Output
    ) {
        self.state = .connected
        self.grantedQoS = grantedQoS
        self.expectsSession = true
        self.liveness?.connected(pingIsAwaited: self.proof.isAwaited, now: now)
        self.redeliveryDeadline = now + self.current.redeliveryWindow
        output.events.append(.connected(sessionPresent: sessionPresent, grantedQoS: grantedQoS))
    }

    private mutating func receivedPublish(
        _ header: MQTTFixedHeader, _ body: RawSpan, into output: inout Output
    ) throws(MQTTError) {
        let layout = try MQTTPublishLayout(header: header, body: body)
        let topic = try self.topic.topic(of: layout, in: body)
        if layout.packetID != nil { self.isBeginning = false }
        var isUnreleased = false
        if layout.qos == .exactlyOnce, let packetID = layout.packetID {
            isUnreleased = !self.unreleased.insert(packetID).inserted
        }
        output.messages.append(
            InboundMessage(
                topic: topic, payload: [UInt8](copying: body.extracting(layout.payload)),
                qos: layout.qos, duplicate: layout.duplicate, isUnreleased: isUnreleased, retain: layout.retain,
                packetID: layout.packetID,
                ticket: layout.packetID.map { self.queue.append(packetID: $0, qos: layout.qos) },
                truncatedLength: body.byteCount < header.remainingLength
                    ? header.remainingLength - layout.payload.lowerBound : nil))
    }

    // MARK: - Sending

    private mutating func sendPing(into output: inout Output) {
        self.send(.pingreq, into: &output)
        self.proof.pingSent(lastSent: self.queue.firstUnsent - 1)
    }

    private mutating func send(_ packet: MQTTPacket, into output: inout Output) {
        do {
            try packet.encode(into: &output.bytes, version: self.current.protocolVersion)
        } catch {
            output.events.append(.unsendable(error))
            self.close(.atOnce, into: &output)
        }
    }

    private mutating func close(_ close: Close, into output: inout Output) {
        self.state = .closing
        output.close = close
    }
}
