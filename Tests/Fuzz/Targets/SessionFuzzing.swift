import KiiPushCore

/// A session and its events: bytes, time, pauses, acknowledgements, connections. The input is the configuration, then
/// one step after the other.
package enum SessionFuzzing {
    /// Runs one input. Returns the broken claims, and a count of events.
    package static func run(_ input: [UInt8]) -> (violations: [String], model: SessionModel) {
        var input = FuzzInput(input)
        var run = SessionRun(Self.configuration(&input))
        // More steps take time and find nothing new.
        for step in 0..<2000 where !input.isEmpty && run.violations.isEmpty {
            run.step(&input)
            run.violations = run.violations.map { "step \(step): \($0)" }
        }
        return (run.violations, run.model)
    }

    private static func configuration(_ input: inout FuzzInput) -> MQTTSession.Configuration {
        let flags = input.byte()
        var configuration = MQTTSession.Configuration(clientID: "t", topicFilter: "t")
        configuration.keepAlive = .seconds(input.number(in: 0...2) * 5)
        configuration.redeliveryWindow = .seconds(input.number(in: 0...100))
        configuration.cleanSession = flags & 1 != 0
        configuration.protocolVersion = flags & 2 != 0 ? .v3_1 : .v3_1_1
        configuration.maximumPacketBytes = input.number(in: 2...255)
        configuration.maximumUnprovenAcknowledgements = input.number(in: 1...10)
        configuration.expectsSession = flags & 8 != 0
        return configuration
    }
}

private struct SessionRun {
    var violations: [String] = []
    private(set) var model = SessionModel()

    private var session: MQTTSession
    private var filter = FilterModel()
    private var now = MonotonicInstant(nanoseconds: 0)
    /// Bytes from the broker that the session has not read yet.
    private var pending: [UInt8] = []

    init(_ configuration: MQTTSession.Configuration) {
        self.session = MQTTSession(configuration: configuration)
    }

    mutating func step(_ input: inout FuzzInput) {
        var output = MQTTSession.Output()
        let choice = input.byte()
        let cut = Int(choice >> 4)
        self.now = self.now + .milliseconds(Int64(cut) * 20)
        switch choice & 0x0F {
        case 0: self.connect(&input, &output)
        case 1: self.disconnect()
        case 2...4: self.receive(Self.packets(&input).flatMap { Self.bytes($0) }, cut: cut, &output)
        case 5: self.receive(input.bytes(input.number(in: 0...63)), cut: cut, &output)
        case 6: self.pending += Self.packets(&input).flatMap { Self.bytes($0) }
        case 7: self.receiveSome(input.number(in: 1...40), cut: cut, &output)
        case 8, 9:
            let ticket = self.ticket(&input)
            self.model.opened(ticket...ticket)
            self.session.acknowledge(ticket: ticket, into: &output)
        case 10:
            let ticket = self.ticket(&input)
            if self.model.owed.contains(where: { $0.ticket == ticket }) { self.model.opened(0...ticket) }
            self.session.acknowledge(through: ticket, into: &output)
        case 11: self.passTime(.milliseconds(Int64(input.byte()) * 100), &output)
        case 12: self.passTime(nil, &output)
        case 13: self.session.readingPaused(input.bool(), now: self.now)
        case 14: self.session.disconnect(into: &output)
        default: self.fullTurn(&input, cut: cut, &output)
        }
        self.check(output)
    }

    // MARK: - Events

    private mutating func connect(_ input: inout FuzzInput, _ output: inout MQTTSession.Output) {
        self.model.connectionOpened()
        self.filter.connectionOpened(firstTicket: self.session.nextTicket)
        self.pending = []
        self.session.transportConnected(now: self.now, into: &output)
        // Usually the broker accepts, because the fuzzer is after the later packets.
        let answer = input.byte()
        guard answer & 3 != 0 else { return }
        self.pending = Self.accepted[answer & 4 != 0 ? 1 : 0]
        if answer & 16 != 0 { self.receiveSome(self.pending.count, cut: Int(answer >> 6), &output) }
        // If the session is resumed, the client may continue without another SUBSCRIBE.
        if !self.session.isConnected { self.pending += Self.granted[answer & 8 != 0 ? 0 : 1] }
        if answer & 32 != 0 { self.receiveSome(self.pending.count, cut: Int(answer >> 6), &output) }
    }

    private mutating func disconnect() {
        self.model.connectionGone()
        self.model.isOpen = false
        self.session.transportClosed()
    }

    private mutating func receiveSome(_ count: Int, cut: Int, _ output: inout MQTTSession.Output) {
        let some = Array(self.pending.prefix(count))
        self.pending.removeFirst(some.count)
        self.receive(some, cut: cut, &output)
    }

    /// Checks that bytes in pieces have the same result as all at once, unless `cut` is above 3.
    ///
    /// - Parameter cut: 0 for single bytes, at most 16, and then the rest; 1 to 3 for a cut after that many quarters;
    ///   any other number for no cut.
    private mutating func receive(_ bytes: [UInt8], cut: Int, _ output: inout MQTTSession.Output) {
        // An empty read is not a reception.
        guard !bytes.isEmpty else { return }
        guard cut < 4 else {
            return bytes.withUnsafeBytes { self.session.received($0, now: self.now, into: &output) }
        }
        var twin = self.session
        var twinOutput = output
        bytes.withUnsafeBytes { bytes in
            let first = cut == 0 ? min(bytes.count, 16) : bytes.count * cut / 4
            let ends = (cut == 0 ? Array(0...first) : [0, first]) + [bytes.count]
            for (start, end) in zip(ends, ends.dropFirst()) where start < end {
                twin.received(UnsafeRawBufferPointer(rebasing: bytes[start..<end]), now: self.now, into: &twinOutput)
            }
            self.session.received(bytes, now: self.now, into: &output)
        }
        self.require(twinOutput == output, "bytes in pieces mean what they mean at once")
        self.require(twin.nextDeadline == self.session.nextDeadline, "and leave the same deadline")
        self.require(twin.unacknowledgedCount == self.session.unacknowledgedCount, "and the same debts")
    }

    private mutating func passTime(_ duration: Duration?, _ output: inout MQTTSession.Output) {
        if let duration {
            self.now = self.now + duration
        } else if let deadline = self.session.nextDeadline {
            self.now = max(self.now, deadline)
        }
        self.session.timerFired(now: self.now, into: &output)
        self.require(self.session.nextDeadline.map { $0 > self.now } ?? true, "the timer does not spin")
    }

    /// One turn of the event loop: bytes, time, acknowledgements, all in one output.
    private mutating func fullTurn(_ input: inout FuzzInput, cut: Int, _ output: inout MQTTSession.Output) {
        self.receive(Self.packets(&input).flatMap { Self.bytes($0) }, cut: cut, &output)
        self.session.timerFired(now: self.now, into: &output)
    }

    /// Usually a ticket that waits for its acknowledgement; sometimes one that is acknowledged, void, or unused.
    private func ticket(_ input: inout FuzzInput) -> UInt64 {
        let first = max(self.session.firstUnacknowledgedTicket, 3) - 3
        let last = self.session.nextTicket + 1
        return first + UInt64(input.byte()) % (last - first + 1)
    }

    // MARK: - Claims

    private mutating func require(_ holds: Bool, _ claim: String) {
        if !holds { self.violations.append(claim) }
    }

    private mutating func check(_ output: MQTTSession.Output) {
        self.violations += self.model.violations(output)
        if self.model.isOpen {
            self.require(self.session.unacknowledgedCount == self.model.owed.count, "the queue is known")
        } else {
            self.require(self.session.nextDeadline == nil, "nothing is due without a connection")
        }
        self.violations += self.filter.violations(output, of: self.session)
    }

    // MARK: - The broker's packets

    private static let accepted = [false, true].map { Self.bytes(.connack(.init(sessionPresent: $0, code: .accepted))) }
    private static let granted = [QoS.atMostOnce, .atLeastOnce].map {
        Self.bytes(.suback(.init(packetID: 1, grants: [$0])))
    }

    private static func packets(_ input: inout FuzzInput) -> [MQTTPacket] {
        let choice = input.byte()
        let packetID = UInt16(choice >> 4) + 1
        switch choice & 0x0F {
        case 0...7:
            let qos: QoS = choice & 0x0F < 2 ? .atMostOnce : choice & 0x0F == 7 ? .exactlyOnce : .atLeastOnce
            let publish = MQTTPublish(
                topic: choice & 0x0F == 6 ? "u" : "t",
                payload: [UInt8](repeating: 0x78, count: input.number(in: 0...40)),
                qos: qos,
                duplicate: input.bool(),
                packetID: qos == .atMostOnce ? nil : packetID)
            return [.publish(publish)]
        case 8, 9: return [.pingresp]
        case 10: return [.pubrel(packetID: packetID)]
        case 11: return [.suback(MQTTSuback(packetID: packetID, grants: [nil]))]
        case 12: return [.connack(MQTTConnack(code: ConnackCode(rawValue: choice >> 4)))]
        case 13: return [.suback(MQTTSuback(packetID: 1, grants: [.atLeastOnce]))]
        case 14: return [.puback(packetID: packetID)]
        default: return [.disconnect]
        }
    }

    private static func bytes(_ packet: MQTTPacket) -> [UInt8] {
        var bytes: [UInt8] = []
        // A packet that cannot be encoded is left out.
        try? packet.encode(into: &bytes)
        return bytes
    }
}
