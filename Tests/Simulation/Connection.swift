import KiiPushCore

final class Connection {
    /// The client ID, which is also the topic.
    let client: String
    private let timeline: Timeline
    private let account: Account
    private weak var broker: ModelBroker?
    private var stream: SimulatedStream?
    private var dice: Dice
    /// Arrival times of the last bytes in each direction. Later bytes never arrive earlier.
    private var lastToAgent: MonotonicInstant
    private var lastToBroker: MonotonicInstant
    private var isCut = false
    private var isSilent = false
    private var isDripping = false
    private var sent: [UInt8] = []
    /// Unacknowledged packets to the agent on this connection, in the order of sending.
    private var owed: [(packetID: UInt16, copy: Int)] = []

    init(
        _ client: String, _ timeline: Timeline, _ broker: ModelBroker, _ account: Account, _ stream: SimulatedStream,
        dice: Dice
    ) {
        self.client = client
        self.timeline = timeline
        self.broker = broker
        self.account = account
        self.stream = stream
        self.dice = dice
        self.lastToAgent = timeline.now
        self.lastToBroker = timeline.now
        account.connectionBegan(client)
    }

    /// Whether a fault may keep the two ends from hearing each other.
    var isDisturbed: Bool { self.isCut || self.isSilent || self.isDripping || self.stream?.isPaused != false }

    // MARK: - Broker to agent

    func send(_ bytes: [UInt8]) {
        guard !self.isCut, !self.isDripping else { return }
        var rest = bytes[...]
        while !rest.isEmpty {
            // A network may split a stream anywhere.
            let count = self.dice.percent(10) ? self.dice.number(1...rest.count) : rest.count
            self.carry(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
    }

    private func carry(_ bytes: [UInt8]) {
        let latency = self.dice.milliseconds(0...(self.dice.percent(2) ? 400 : 4))
        self.lastToAgent = max(self.lastToAgent, self.timeline.now + latency)
        self.timeline.at(self.lastToAgent) { [weak self] in
            guard let self, !self.isCut, !self.isSilent else { return }
            self.stream?.received(bytes)
        }
    }

    func publish(_ message: ModelBroker.Outgoing, packetID: UInt16?, duplicate: Bool) {
        guard !self.isCut, !self.isDripping else { return }
        if let packetID { self.owed.append((packetID, message.copy)) }
        self.account.sent(message.copy, packetID: packetID, duplicate: duplicate, to: self.client)
        self.send(
            Wire.publish(
                topic: message.topic, payload: message.payload, qos: packetID == nil ? 0 : message.qos,
                duplicate: duplicate, packetID: packetID))
    }

    // MARK: - Agent to broker

    /// - Parameter bytes: `nil` closes the connection.
    func agentSent(_ bytes: [UInt8]?) {
        guard let bytes else { return self.agentClosed() }
        self.examine(bytes)
        let latency = self.dice.milliseconds(0...4)
        self.lastToBroker = max(self.lastToBroker, self.timeline.now + latency)
        self.timeline.at(self.lastToBroker) { [weak self] in
            guard let self, !self.isCut, !self.isSilent else { return }
            self.broker?.received(bytes, on: self)
        }
    }

    private func agentClosed() {
        self.stream = nil
        let latency = self.dice.milliseconds(0...4)
        self.lastToBroker = max(self.lastToBroker, self.timeline.now + latency)
        self.timeline.at(self.lastToBroker) { [weak self] in
            guard let self else { return }
            self.isCut = true
            self.broker?.closed(self)
        }
    }

    /// Records acknowledgements when the agent sends them, even if the network drops them.
    private func examine(_ bytes: [UInt8]) {
        self.sent += bytes
        while let packet = Wire.take(&self.sent) {
            switch packet.type {
            case 1: self.account.asks(self.client)
            case 4, 5: if let packetID = packet.packetID { self.acknowledged(packetID) }
            // The agent sends SUBSCRIBE only after it read CONNACK.
            case 8: self.account.answered(self.client)
            default: break
            }
        }
    }

    private func acknowledged(_ packetID: UInt16) {
        guard let index = self.owed.firstIndex(where: { $0.packetID == packetID }) else {
            return self.account.violated("packet \(packetID) was acknowledged, which did not come on this connection")
        }
        // "A Client MUST send PUBACK packets in the order in which the corresponding PUBLISH packets were received"
        // [MQTT-4.6.0-2].
        if index != 0 { self.account.violated("packet \(packetID) was acknowledged before those that came earlier") }
        self.account.acknowledged(self.owed.remove(at: index).copy)
    }

    func agentDied() { self.agentClosed() }

    // MARK: - Network events

    func open() {
        self.timeline.after(self.dice.milliseconds(0...20)) { [weak self] in
            guard let self, !self.isCut else { return }
            self.stream?.connected()
        }
    }

    func refuse() {
        self.isCut = true
        self.timeline.after(self.dice.milliseconds(0...20)) { [weak self] in
            self?.stream?.broke(TransportError(.connectionRefused, detail: "nobody listens"))
        }
    }

    /// The broker closes the connection. Bytes in transit arrive, or a reset drops them.
    func closeByBroker() {
        let stream = self.stream
        let isReset = self.dice.percent(50)
        if isReset { self.isCut = true }
        self.timeline.at(max(self.lastToAgent, self.timeline.now + self.dice.milliseconds(0...4))) { [weak self] in
            self?.isCut = true
            stream?.broke(TransportError(.connectionLost, detail: "the broker has closed the connection"))
        }
    }

    /// The connection breaks. Each end may notice at another time.
    func cut(_ dice: inout Dice) {
        self.isCut = true
        // Neither end gets an error: each finds out by its own timeout.
        guard !dice.percent(15) else {
            self.isSilent = true
            return
        }
        let stream = self.stream
        self.timeline.after(dice.milliseconds(0...50)) {
            stream?.broke(TransportError(.connectionLost, detail: "the connection was cut"))
        }
        self.timeline.after(dice.milliseconds(0...50)) { [weak self] in
            guard let self else { return }
            self.broker?.closed(self)
        }
    }

    func fallSilent() { self.isSilent = true }

    /// The broker starts a packet and continues it with a byte a second, without end.
    ///
    /// - Parameter limit: The agent must close the connection within this time, since no answer arrives.
    func drip(limit: Duration) {
        self.isDripping = true
        self.timeline.at(max(self.lastToAgent, self.timeline.now)) { [weak self] in
            guard let self, !self.isCut else { return }
            self.stream?.received([0x30, 0xFF, 0x07])
            self.dripOn(limit)
        }
    }

    private func dripOn(_ limit: Duration) {
        self.timeline.after(.seconds(1)) { [weak self] in
            guard let self, let stream = self.stream, !self.isCut, !stream.isClosed else { return }
            stream.received([0])
            // A paused stream reads nothing, so the agent cannot notice.
            guard !stream.isPaused else { return self.dripOn(limit) }
            guard limit > .zero else {
                return self.account.violated("single bytes keep a connection up whose answers do not come")
            }
            self.dripOn(limit - .seconds(1))
        }
    }
}
