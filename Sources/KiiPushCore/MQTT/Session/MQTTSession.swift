/// A client's session with a broker, over any number of connections. A state machine without socket, clock or task:
/// events in, bytes and messages out. The session acknowledges a QoS 1 message after the caller has permitted this, in
/// order of reception, and only on the connection that brought the message.
///
/// The session never requests QoS 2. A broker may still send QoS 2, if other software has used the client identifier.
/// The session then answers with PUBREC instead of PUBACK, and answers every PUBREL (MQTT 3.1.1, 4.3.3). It marks a
/// message whose packet identifier was used before and not released since.
package struct MQTTSession: Sendable {
    private enum State {
        /// No connection. Exit: `transportConnected`.
        case disconnected
        /// CONNECT was sent. CONNACK 0 leads to `awaitingSuback`, anything else to `closing`.
        case awaitingConnack
        /// SUBSCRIBE was sent; messages of a resumed session may already arrive. A grant leads to `connected`; a
        /// refusal, an error, a late answer or `disconnect` to `closing`.
        case awaitingSuback(sessionPresent: Bool?)
        /// The broker granted the subscription. An error, a late answer or `disconnect` leads to `closing`.
        case connected
        /// The session reads and sends nothing more. Exit: `transportClosed`, as from every state.
        case closing
    }

    private static let subscribePacketID: UInt16 = 1

    package var configuration: Configuration
    package private(set) var generation: UInt64 = 0

    private var current: Configuration
    private var state = State.disconnected
    private var decoder = FrameDecoder()
    /// The last message's topic, as a string that messages share.
    private var topic: String
    private var queue = AcknowledgementQueue()
    private var proof = ArrivalProof(firstTicket: 1)
    private var liveness: Liveness?
    /// The latest of three times: the connection began, the broker's last bytes arrived, reading resumed after a pause.
    package var lastReceived: MonotonicInstant? { self.liveness?.lastReceived }
    private var isReadingPaused = false
    private var redeliveryDeadline: MonotonicInstant?
    private var expectsSession: Bool
    /// The number of CONNECTs since the last accepted CONNECT, refused CONNECTs excluded. Each unanswered CONNECT may
    /// have created a new session.
    private var connectsWithoutAnswer = 0
    package var hasUnansweredConnect: Bool { self.connectsWithoutAnswer > 0 }
    private var unreleased: Set<UInt16> = []
    /// Whether this connection's first packet with an identifier was PUBREL. The first message's identifier then says
    /// nothing about the broker's numbering.
    package private(set) var beganWithPubrel = false
    private var isBeginning = true

    package init(configuration: Configuration) {
        self.configuration = configuration
        self.current = configuration
        self.expectsSession = configuration.expectsSession
        self.topic = configuration.topicFilter
    }

    private var isAccepted: Bool {
        switch self.state {
        case .awaitingSuback, .connected: true
        case .disconnected, .awaitingConnack, .closing: false
        }
    }

    private var isOpen: Bool { if case .awaitingConnack = self.state { true } else { self.isAccepted } }

    package var isConnected: Bool { if case .connected = self.state { true } else { false } }

    package var nextTicket: UInt64 { self.queue.nextTicket }

    /// The ticket of the first unsent acknowledgement, or the next ticket if all are sent.
    package var firstUnacknowledgedTicket: UInt64 { self.queue.firstUnsent }

    /// Number of unsent acknowledgements. The caller pauses reading if this number is too high.
    package var unacknowledgedCount: Int { self.queue.count }

    // MARK: - Connection

    package mutating func transportConnected(now: MonotonicInstant, into output: inout Output) {
        self.transportClosed()
        self.generation += 1
        self.beganWithPubrel = false
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

    /// Ends the connection, and drops its unsent acknowledgements: the broker can redeliver their messages.
    package mutating func transportClosed() {
        self.state = .disconnected
        self.queue.drop()
        self.liveness = nil
        self.redeliveryDeadline = nil
        self.decoder = FrameDecoder()
    }

    /// Sends DISCONNECT and closes. Acknowledgements that are not permitted yet stay unsent.
    package mutating func disconnect(into output: inout Output) {
        guard self.isOpen else { return }
        self.send(.disconnect, into: &output)
        self.close(.afterFlush, into: &output)
    }

    package mutating func readingPaused(_ isPaused: Bool, now: MonotonicInstant) {
        self.isReadingPaused = isPaused
        self.liveness?.readingPaused(isPaused, now: now)
    }

    // MARK: - Time

    package var nextDeadline: MonotonicInstant? {
        self.isOpen ? .earlier(self.liveness?.nextDeadline, self.redeliveryDeadline) : nil
    }

    /// Handles the passage of time. Call this after the received bytes of the turn: an answer still in the socket would
    /// count as late. Needless calls are harmless.
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

    /// Sends PINGREQ at once, and closes the connection if PINGRESP does not come within `limit`. For a link that may
    /// be dead, as after the machine slept.
    package mutating func probe(within limit: Duration, now: MonotonicInstant, into output: inout Output) {
        // Before SUBACK the session already waits for an answer with a short limit.
        guard self.isConnected else { return }
        self.sendPing(into: &output)
        self.liveness?.probeSent(limit: limit, now: now)
    }

    // MARK: - Acknowledgements

    /// Permits the acknowledgement of one message. Ignores a ticket of an earlier connection.
    package mutating func acknowledge(ticket: UInt64, into output: inout Output) {
        self.queue.open(ticket)
        self.sendAcknowledgements(into: &output)
    }

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

    /// Handles received bytes. Messages before an error are still put into the output.
    package mutating func received(_ bytes: UnsafeRawBufferPointer, now: MonotonicInstant, into output: inout Output) {
        guard self.isOpen else { return }
        self.liveness?.bytesReceived(now: now)
        let messages = output.messages.count
        // The decoder is moved out of the session, so that the closure can change the session.
        var decoder = FrameDecoder()
        swap(&decoder, &self.decoder)
        do {
            try decoder.decode(bytes.bytes) { (header, body) throws(MQTTError) in
                try self.received(header, body, now: now, into: &output)
            }
        } catch {
            // Errors after the packet that ended the connection are ignored.
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
        // The first packet must be CONNACK ([MQTT-3.2.0-1]).
        guard self.isAccepted || header.type == .connack else { throw MQTTError(.unexpected, in: header.type) }
        if header.type == .publish { return try self.receivedPublish(header, body, into: &output) }
        switch try MQTTPacket(header: header, body: body, version: self.current.protocolVersion) {
        case .connack(let connack): try self.received(connack, now: now, into: &output)
        case .suback(let suback): try self.received(suback, now: now, into: &output)
        case .pingresp:
            if let ticket = self.proof.pongReceived() { output.events.append(.acknowledgementsProven(through: ticket)) }
            self.liveness?.answered(.pingresp, pingIsAwaited: self.proof.isAwaited, now: now)
        case .pubrel(let packetID):
            if self.isBeginning { self.beganWithPubrel = true }
            self.unreleased.remove(packetID)
            self.send(.pubcomp(packetID: packetID), into: &output)
        // These answer a publisher, and this client publishes nothing. mosquitto's clients ignore these packets too.
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
            // A refused CONNECT creates no session.
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
            output.events.append(.sessionMayBeNew)
        }
        if sessionPresent == false {
            if self.expectsSession, !self.current.cleanSession { output.events.append(.sessionLost) }
            self.expectsSession = false
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
        guard let grantedQoS = suback.grants[0] else {
            output.events.append(.subscriptionRefused)
            return self.disconnect(into: &output)
        }
        self.state = .connected
        self.expectsSession = true
        self.liveness?.answered(.suback, pingIsAwaited: self.proof.isAwaited, now: now)
        self.redeliveryDeadline = now + self.current.redeliveryWindow
        output.events.append(.connected(sessionPresent: sessionPresent, grantedQoS: grantedQoS))
    }

    private mutating func receivedPublish(
        _ header: MQTTFixedHeader, _ body: RawSpan, into output: inout Output
    ) throws(MQTTError) {
        let layout = try MQTTPublishLayout(header: header, body: body)
        // Comparing bytes is faster than making a string.
        let isLastTopic = body.extracting(layout.topic).withUnsafeBytes { self.topic.hasBytes($0) }
        if !isLastTopic { self.topic = try layout.topic(in: body) }
        if layout.packetID != nil { self.isBeginning = false }
        var isUnreleased = false
        if layout.qos == .exactlyOnce, let packetID = layout.packetID {
            isUnreleased = !self.unreleased.insert(packetID).inserted
        }
        output.messages.append(
            InboundMessage(
                topic: self.topic, payload: [UInt8](copying: body.extracting(layout.payload)),
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
