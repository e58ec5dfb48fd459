/// One agent's MQTT session with its broker, and the present connection. Only the loop's thread uses it.
package final class BrokerLink: ByteStreamDelegate, MessageLink {
    /// The limit of unsent bytes. A broker that reads needs far fewer: 65,535 acknowledgements of 4 bytes at most.
    private static let unsentLimit = 1 << 20

    /// The time limit for the answer to a PINGREQ after a sleep of the machine. Default 5 s.
    private let probeLimit: Duration
    package let installation: Int64
    package let topic: String
    private let loop: any Loop
    private let pipeline: Pipeline
    private let verifiesCertificates: Bool
    private let report: (PushEvent) -> Void
    private var session: MQTTSession
    private var filter: RedeliveryFilter
    var retained = RetainedMessage()
    private var output = MQTTSession.Output()
    private var stream: (any ByteStream)?
    private var target: Target?
    private var ended: ((End) -> Void)?
    private var sessionEnd: MQTTSession.Event?
    private var connectedAt: MonotonicInstant?
    /// The time of SUBACK, or of the first message if it came earlier.
    private var goodSince: MonotonicInstant?
    private var hadSession = false
    /// Whether the store counts the session as possibly new; see ``streamDidConnect(_:)``.
    private var isInDoubt = false
    private(set) var isHeld = false
    private var isStopping = false
    private var isProbing = false
    private var timer: (id: TimerID, deadline: MonotonicInstant)?
    private var absorbedInTurn: Set<Int64> = []
    private var insertedInTurn: [UInt16: Int64] = [:]
    private var storedThrough: UInt64?
    package var isQueuedForFlush = false
    private let connectionBase: Int64
    private var openConnection: Int64?

    init(
        installation: Int64, configuration: MQTTSession.Configuration, filter: RedeliveryFilter, connectionBase: Int64,
        pipeline: Pipeline, verifiesCertificates: Bool, report: @escaping (PushEvent) -> Void
    ) {
        self.installation = installation
        self.topic = configuration.topicFilter
        self.session = MQTTSession(configuration: configuration)
        self.probeLimit = configuration.pingTimeout ?? .seconds(5)
        self.filter = filter
        self.loop = pipeline.loop
        self.connectionBase = connectionBase
        self.pipeline = pipeline
        self.verifiesCertificates = verifiesCertificates
        self.report = report
    }

    /// The present connection's number is larger than that of every earlier connection, also in earlier processes,
    /// unless the calendar was set back.
    private var connection: Int64 { self.connectionBase + Int64(self.session.generation) }
}

// MARK: - For the agent

extension BrokerLink {
    package func connect(to target: Target, ended: @escaping (End) -> Void) {
        self.target = target
        self.ended = ended
        self.sessionEnd = nil
        self.connectedAt = nil
        self.goodSince = nil
        self.hadSession = false
        self.retained.connectionBegan()
        self.session.configuration.username = target.endpoint.username
        self.session.configuration.password = target.endpoint.password
        self.stream = self.loop.openStream(
            target.stream, sendTimeout: self.session.configuration.sendTimeout, isInspected: false, delegate: self)
        self.pipeline.add(self)
    }

    /// `nil` before SUBACK, without a connection, and while reading is paused.
    var silence: Duration? {
        guard self.connectedAt != nil, let stream, !stream.isPaused else { return nil }
        return self.session.lastReceived.map { self.loop.now - $0 }
    }

    /// Stops reading for good. The link still keeps the connection alive and acknowledges finished messages.
    package func stopReading() {
        self.isStopping = true
        self.setReadingPaused(true)
    }

    package func disconnect() {
        guard let stream else { return }
        self.session.disconnect(into: &self.output)
        stream.send(self.output.bytes)
        stream.closeAfterFlush()
        self.clear()
    }
}

// MARK: - For the pipeline

extension BrokerLink {
    /// Finds the stored row that this message may repeat. The caller must compare the payloads.
    package func redeliveryCandidate(of arrival: Arrival) -> Int64? {
        // A broker never repeats a message of QoS 0.
        guard let packetID = arrival.message.packetID else { return nil }
        if arrival.message.isUnreleased, let row = self.insertedInTurn[packetID] { return row }
        let first = self.session.firstUnacknowledgedTicket
        guard self.isLatest(arrival),
            let row = self.filter.candidate(for: arrival.message, unacknowledgedFrom: first),
            arrival.message.isUnreleased || !self.absorbedInTurn.contains(row)
        else { return nil }
        return row
    }

    /// Remembers that a message repeats the row, until the store's commit of this turn has succeeded or failed.
    package func absorbs(_ row: Int64) { self.absorbedInTurn.insert(row) }

    /// Remembers that a QoS 2 message becomes this row, until a commit has succeeded or failed.
    package func inserted(_ row: Int64, _ arrival: Arrival) {
        if let packetID = arrival.message.packetID { self.insertedInTurn[packetID] = row }
    }

    package func forgetAbsorptions() {
        self.absorbedInTurn.removeAll()
        self.insertedInTurn.removeAll()
    }

    package func stored(_ row: Int64, _ arrival: Arrival) {
        if !self.insertedInTurn.isEmpty { self.insertedInTurn.removeAll() }
        self.retained.stored(arrival.message)
        guard arrival.message.packetID != nil else { return }
        guard self.isLatest(arrival) else { return self.filter.passed(sequence: row) }
        self.filter.stored(sequence: row, as: arrival.message)
    }

    package func absorbed(_ row: Int64, _ arrival: Arrival) {
        self.absorbedInTurn.remove(row)
        self.filter.absorbed(sequence: row, by: arrival.message)
    }

    /// Whether the message came over the installation's latest connection. Another connection may have another session.
    package func isLatest(_ arrival: Arrival) -> Bool {
        self.pipeline.connections[self.installation] == arrival.connection
    }

    package func isCurrent(_ arrival: Arrival) -> Bool { arrival.connection == self.openConnection }

    /// Ignores a ticket of an earlier connection, because the broker repeats that message.
    package func acknowledge(_ ticket: UInt64) {
        self.session.acknowledge(ticket: ticket, into: &self.output)
    }

    /// Acknowledges every message up to this ticket, with the next ``flush()``.
    package func acknowledgeThrough(_ ticket: UInt64) { self.storedThrough = ticket }

    package func flush() {
        if let ticket = self.storedThrough {
            self.storedThrough = nil
            self.session.acknowledge(through: ticket, into: &self.output)
        }
        guard !self.output.bytes.isEmpty else { return }
        self.stream?.send(self.output.bytes)
        self.output.bytes.removeAll(keepingCapacity: true)
        if !self.endIfUnread() { self.setTimer() }
    }

    /// Ends the connection if too many bytes are unsent: a broker that sends but never reads would fill the memory.
    private func endIfUnread() -> Bool {
        guard let stream, stream.unsentBytes > BrokerLink.unsentLimit else { return false }
        stream.close()
        let error = TransportError(.other, detail: "the broker does not read what it is sent, more than 1 MiB by now")
        self.finish(.transport(self.naming(error)))
        return true
    }

    /// Before SUBACK or the first message, only ``stopReading()`` pauses reading.
    func setReadingPaused(_ isWanted: Bool) {
        let isPaused = isWanted && self.goodSince != nil || self.isStopping
        guard let stream, stream.isPaused != isPaused else { return }
        isPaused ? stream.pauseReading() : stream.resumeReading()
        self.session.readingPaused(isPaused, now: self.loop.now)
        self.setTimer()
    }
}

// MARK: - From the stream

extension BrokerLink {
    /// Before CONNECT, the store counts the session as possibly new: no message counts as a repetition of a stored one.
    ///
    /// The broker may begin a new session, and this process may end before it reads CONNACK. The next CONNACK then says
    /// "session present". If the store did not know, the next process could drop a new message as a repetition, because
    /// a stored message has the same packet identifier and bytes. If CONNACK shows the old session, the link corrects
    /// the store. A repeated message is better than a lost one.
    ///
    /// A link that stops sends no CONNECT: the next process would read nothing of a new session that it began.
    package func streamDidConnect(_ stream: any ByteStream) {
        guard !self.isStopping else { return }
        let store = self.pipeline.store
        self.pipeline.connections[self.installation] = nil
        // The commit under way may contain a message of an earlier connection.
        let mayHaveRow = self.pipeline.isCommitUnderWay && self.session.nextTicket > 1
        if self.filter.count > 0 || mayHaveRow {
            self.isInDoubt = true
            store.doubt(installation: self.installation, through: self.filter.lastSequence)
        }
        guard store.hasMoreToWrite else { return self.begin() }
        self.isHeld = true
        self.pipeline.hold(self)
    }

    func resume() {
        guard self.isHeld, !self.isStopping else { return }
        self.isHeld = false
        self.begin()
    }

    private func begin() {
        self.filter.connectionOpened(firstTicket: self.session.nextTicket)
        self.session.transportConnected(now: self.loop.now, into: &self.output)
        self.openConnection = self.connection
        self.pipeline.connections[self.installation] = self.connection
        self.perform()
    }

    package func stream(_ stream: any ByteStream, didReceive bytes: UnsafeRawBufferPointer) {
        self.isProbing = false
        self.session.received(bytes, now: self.loop.now, into: &self.output)
        self.perform()
    }

    package func streamDidClose(_ stream: any ByteStream, error: TransportError) { self.closed(error) }

    private func closed(_ error: TransportError) {
        self.finish(self.sessionEnd.map { .session($0) } ?? .transport(self.naming(error)))
    }

    private func naming(_ error: TransportError) -> TransportError {
        guard let target = self.target else { return error }
        var error = error
        error.subject = "the broker at \(target.endpoint.host):\(target.port)"
        return error
    }

    private func perform() {
        for event in self.output.events { self.handle(event) }
        // CONNACK shows whether the session is the old one, and a refused client has no new session.
        if !self.isHeld { self.endDoubt() }
        if !self.output.messages.isEmpty {
            if self.goodSince == nil {
                self.goodSince = self.loop.now
                // Messages before SUBACK are usually from a kept session; SUBACK corrects this value.
                self.hadSession = true
                if self.pipeline.isReadingPaused { self.setReadingPaused(true) }
            }
            let receivedAt = self.loop.clocks.calendar
            for message in self.output.messages {
                self.filter.received(message, beganWithPubrel: self.session.beganWithPubrel)
                guard !self.retained.isRepeated(by: message) else {
                    if let ticket = message.ticket { self.session.acknowledge(ticket: ticket, into: &self.output) }
                    continue
                }
                self.pipeline.received(
                    Arrival(link: self, message: message, connection: self.connection, receivedAt: receivedAt))
            }
        }
        if !self.output.bytes.isEmpty { self.stream?.send(self.output.bytes) }
        let close = self.output.close
        self.output.removeAll()
        switch close {
        case nil:
            if !self.endIfUnread() { self.setTimer() }
            return
        case .atOnce: self.stream?.close()
        case .afterFlush: self.stream?.closeAfterFlush()
        }
        self.closed(TransportError(.connectionLost, detail: "the connection was closed"))
    }

    private func handle(_ event: MQTTSession.Event) {
        switch event {
        case .connected(let sessionPresent, let grantedQoS): self.connected(sessionPresent, grantedQoS)
        case .sessionMayBeNew:
            self.filter.sessionMayBeNew()
            self.retained.sessionMayBeNew()
            self.saveProven()
        case .sessionLost:
            self.report(.notice(.sessionLost, reason: "the broker kept no session: messages may be missing"))
        case .acknowledgementsProven(let ticket):
            self.filter.proven(through: ticket)
            self.saveProven()
        case .redeliveryWindowPassed:
            self.filter.redeliveryWindowPassed()
            self.saveProven()
        case .protocolVersionChanged: break
        case .connectionRefused, .subscriptionRefused, .keepAliveMissed, .timedOut, .protocolError, .unsendable:
            self.sessionEnd = event
        }
    }

    private func connected(_ sessionPresent: Bool?, _ grantedQoS: QoS) {
        guard let target else { return }
        self.connectedAt = self.loop.now
        self.goodSince = self.goodSince ?? self.loop.now
        if self.pipeline.isReadingPaused { self.setReadingPaused(true) }
        self.hadSession = sessionPresent ?? true
        let connection = PushEvent.Connection(
            host: target.endpoint.host, port: Int(target.port), usesTLS: target.usesTLS,
            usesWebSocket: target.usesWebSocket,
            isVerified: target.usesTLS && self.verifiesCertificates,
            protocolVersion: self.session.configuration.protocolVersion == .v3_1 ? "3.1" : "3.1.1",
            qualityOfService: grantedQoS == .atMostOnce ? 0 : 1, sessionPresent: sessionPresent ?? false)
        self.report(.connected(connection))
    }

    /// Corrects the store, unless a CONNECT without an answer may have begun a new session.
    private func endDoubt() {
        if self.isInDoubt, !self.session.hasUnansweredConnect { self.saveProven() }
    }

    private func saveProven() {
        self.isInDoubt = false
        // A filter without rows would overwrite the progress that an earlier process stored.
        guard self.filter.lastSequence > 0 else { return }
        self.pipeline.store.proven(installation: self.installation, through: self.filter.provenSequence)
    }

    private func finish(_ cause: End.Cause) {
        let ended = self.ended
        let end = End(
            cause: cause, connectedFor: self.goodSince.map { self.loop.now - $0 }, hadSession: self.hadSession,
            wasSubscribed: self.connectedAt != nil, wasProbing: self.isProbing)
        self.clear()
        ended?(end)
    }

    private func clear() {
        // The broker has seen no CONNECT since the store's doubt, and keeps its session.
        if self.isHeld { self.endDoubt() }
        self.session.transportClosed()
        self.session.readingPaused(false, now: self.loop.now)
        self.pipeline.remove(self)
        self.output.removeAll()
        self.stream = nil
        self.openConnection = nil
        self.ended = nil
        self.connectedAt = nil
        self.goodSince = nil
        self.isProbing = false
        self.isHeld = false
        if let timer { self.loop.cancel(timer.id) }
        self.timer = nil
    }

    // There is one timer. It may fire up to 1 s before the deadline, so that not every message moves the timer.
    private func setTimer() {
        guard let deadline = self.session.nextDeadline else { return }
        if let timer, timer.deadline <= deadline, deadline - timer.deadline < .seconds(1) { return }
        if let timer { self.loop.cancel(timer.id) }
        let id = self.loop.schedule(at: deadline) { [weak self] in
            guard let self else { return }
            self.timer = nil
            self.pipeline.timerFired(self)
        }
        self.timer = (id, deadline)
    }

    /// Tests the connection, which the broker may have ended during the machine's sleep.
    func wokeUp() {
        guard self.connectedAt != nil else { return }
        self.isProbing = true
        self.session.probe(within: self.probeLimit, now: self.loop.now, into: &self.output)
        self.perform()
    }

    /// Checks the session's deadlines. The caller has read this turn's bytes before, so an answer that has arrived
    /// counts.
    func checkClock() {
        self.session.timerFired(now: self.loop.now, into: &self.output)
        self.perform()
    }
}
