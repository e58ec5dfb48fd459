import KiiPushCore

final class ModelBroker {
    struct Outgoing {
        /// The message's number among all accepted messages.
        var copy: Int
        var topic: String
        var payload: [UInt8]
        var qos: UInt8
    }

    fileprivate struct InFlight {
        var message: Outgoing
        var packetID: UInt16
        var sentAt: MonotonicInstant
        /// At QoS 2: PUBREC arrived, and PUBREL was sent.
        var isReleased = false
    }

    fileprivate struct Session {
        var queue: [Outgoing] = []
        var inFlight: [InFlight] = []
        var nextID: UInt16
    }

    private struct Client {
        let connection: Connection
        var bytes: [UInt8] = []
        var hasConnected = false
        var lastHeard: MonotonicInstant
        var keepAlive = Duration.zero
    }

    private let traits: Plan.Broker
    private let timeline: Timeline
    private let account: Account
    private var sessions: [String: Session] = [:]
    private var clients: [String: Client] = [:]
    private var copy: [String: Session] = [:]

    init(_ traits: Plan.Broker, _ timeline: Timeline, _ account: Account, topics: [String]) {
        self.traits = traits
        self.timeline = timeline
        self.account = account
        for topic in topics { self.sessions[topic] = self.newSession() }
        self.copy = self.sessions
    }

    private func newSession() -> Session { Session(nextID: self.traits.firstID) }

    var isEmpty: Bool { self.sessions.values.allSatisfy { $0.queue.isEmpty && $0.inFlight.isEmpty } }

    func publish(_ message: Outgoing, to client: String) {
        guard self.sessions[client] != nil else { return self.account.lostByBroker([message.copy]) }
        self.sessions[client]?.queue.append(message)
        self.pump(client)
    }

    // MARK: - Faults

    func forgetSessions() {
        for session in self.sessions.values { self.account.lostByBroker(session.copies) }
        self.sessions = [:]
        self.dropAll()
    }

    func saveCopy() { self.copy = self.sessions }

    func goBack() {
        let before = Set(self.sessions.values.flatMap(\.copies))
        self.sessions = self.copy
        self.account.lostByBroker(Array(before.subtracting(self.sessions.values.flatMap(\.copies))))
        self.account.brokerWentBack()
        self.dropAll()
        guard let pause = self.traits.resendsAfter else { return }
        // The broker may have forgotten its timers for redelivery together with these messages.
        for (name, session) in self.sessions.sorted(by: { $0.key < $1.key }) {
            for flight in session.inFlight { self.resend(flight.message.copy, name, after: pause) }
        }
    }

    private func dropAll() {
        let clients = self.clients.values
        self.clients = [:]
        for client in clients { client.connection.closeByBroker() }
    }

    // MARK: - Connections

    func closed(_ connection: Connection) {
        if self.clients[connection.client]?.connection === connection { self.clients[connection.client] = nil }
    }

    func received(_ bytes: [UInt8], on connection: Connection) {
        let name = connection.client
        if self.clients[name]?.connection !== connection {
            // [MQTT-3.1.4-2]: the server must disconnect the existing client.
            self.clients[name]?.connection.closeByBroker()
            self.clients[name] = Client(connection: connection, lastHeard: self.timeline.now)
        }
        self.clients[name]?.lastHeard = self.timeline.now
        self.clients[name]?.bytes += bytes
        while var client = self.clients[name], client.connection === connection, let packet = Wire.take(&client.bytes) {
            self.clients[name] = client
            self.handle(packet, name, connection)
        }
    }

    private func handle(_ packet: Wire.ClientPacket, _ name: String, _ connection: Connection) {
        switch packet.type {
        case 1: self.connect(packet, name, connection)
        case 8: connection.send(Wire.suback(packet.packetID ?? 0, self.traits.grantedQoS))
        case 12: connection.send(Wire.pingresp)
        case 14: self.clients[name] = nil
        case 4, 7: self.complete(packet.packetID ?? 0, name)
        case 5: self.release(packet.packetID ?? 0, name, connection)
        default: self.account.violated("the agent sent a packet of type \(packet.type)")
        }
        self.pump(name)
    }

    private func connect(_ packet: Wire.ClientPacket, _ name: String, _ connection: Connection) {
        // MQTT 3.1.1, section 3.1: the protocol's name, its level, the flags and the keep-alive.
        let nameLength = Int(packet.packetID ?? 0)
        guard packet.body.count > nameLength + 5 else {
            return self.account.violated("a CONNECT that is cut")
        }
        let isOld = packet.body[nameLength + 2] == 3
        if self.traits.isOld, !isOld {
            connection.send(Wire.connack(sessionPresent: false, code: 1))
            connection.closeByBroker()
            return
        }
        if packet.body[nameLength + 3] & 0x02 != 0 { self.account.violated("the agent asked for a clean session") }
        let keepAlive = Int(packet.body[nameLength + 4]) << 8 | Int(packet.body[nameLength + 5])
        self.clients[name]?.hasConnected = true
        self.clients[name]?.keepAlive = .seconds(keepAlive)
        let isPresent = self.sessions[name] != nil
        if !isPresent {
            self.sessions[name] = self.newSession()
            self.account.sessionBegan(name)
        }
        connection.send(Wire.connack(sessionPresent: isPresent && !self.traits.isOld, code: 0))
        if self.traits.renumbers { self.renumber(name) }
        if self.traits.resendsAfter == nil { self.sendAgain(name) }
        self.watch(connection)
    }

    /// "If the Keep Alive value is non-zero and the Server does not receive a Control Packet from the Client within one and a
    /// half times the Keep Alive time period, it MUST disconnect" [MQTT-3.1.2-24].
    private func watch(_ connection: Connection) {
        guard let client = self.clients[connection.client], client.connection === connection,
            client.keepAlive > .zero
        else { return }
        let due = client.lastHeard + client.keepAlive * 3 / 2
        guard due <= self.timeline.now else {
            return self.timeline.at(due) { [weak self] in self?.watch(connection) }
        }
        if !connection.isDisturbed {
            self.account.violated("the agent sent nothing for \(client.keepAlive * 3 / 2)")
        }
        self.clients[connection.client] = nil
        connection.closeByBroker()
    }

    // MARK: - Messages

    private func renumber(_ name: String) {
        guard var session = self.sessions[name] else { return }
        for index in session.inFlight.indices { session.inFlight[index].packetID = UInt16(index + 1) }
        session.nextID = UInt16(session.inFlight.count + 1)
        self.sessions[name] = session
    }

    private func sendAgain(_ name: String) {
        guard let session = self.sessions[name] else { return }
        for index in session.inFlight.indices { self.send(index, name, duplicate: true) }
    }

    private func send(_ index: Int, _ name: String, duplicate: Bool) {
        guard let client = self.clients[name], client.hasConnected, let flight = self.sessions[name]?.inFlight[index]
        else { return }
        self.sessions[name]?.inFlight[index].sentAt = self.timeline.now
        if flight.isReleased {
            self.account.released(to: name)
            client.connection.send(Wire.pubrel(flight.packetID))
        } else {
            client.connection.publish(flight.message, packetID: flight.packetID, duplicate: duplicate)
        }
        if let pause = self.traits.resendsAfter { self.resend(flight.message.copy, name, after: pause) }
    }

    private func resend(_ copy: Int, _ name: String, after pause: Duration) {
        self.timeline.after(pause) { [weak self] in
            guard let self, let session = self.sessions[name],
                let index = session.inFlight.firstIndex(where: { $0.message.copy == copy }),
                session.inFlight[index].sentAt + pause <= self.timeline.now
            else { return }
            guard self.clients[name]?.hasConnected == true else {
                return self.resend(copy, name, after: pause)
            }
            self.send(index, name, duplicate: true)
        }
    }

    private func pump(_ name: String) {
        guard let client = self.clients[name], client.hasConnected else { return }
        while var session = self.sessions[name], !session.queue.isEmpty {
            let message = session.queue[0]
            if self.traits.grantedQoS == 0 {
                session.queue.removeFirst()
                self.sessions[name] = session
                client.connection.publish(message, packetID: nil, duplicate: false)
                continue
            }
            guard session.inFlight.count < self.traits.window else { return }
            session.queue.removeFirst()
            let packetID = session.takeID()
            session.inFlight.append(InFlight(message: message, packetID: packetID, sentAt: self.timeline.now))
            self.sessions[name] = session
            self.send(session.inFlight.count - 1, name, duplicate: false)
        }
    }

    private func complete(_ packetID: UInt16, _ name: String) {
        // The broker may not wait for this packet ID: it may have gone back to an old copy.
        self.sessions[name]?.inFlight.removeAll { $0.packetID == packetID }
    }

    private func release(_ packetID: UInt16, _ name: String, _ connection: Connection) {
        guard let index = self.sessions[name]?.inFlight.firstIndex(where: { $0.packetID == packetID }) else { return }
        self.sessions[name]?.inFlight[index].isReleased = true
        self.account.released(to: name)
        connection.send(Wire.pubrel(packetID))
    }
}

extension ModelBroker.Session {
    fileprivate var copies: [Int] { (self.queue + self.inFlight.map(\.message)).map(\.copy) }

    /// The next unused packet ID; 0 is not a packet ID [MQTT-2.3.1-1].
    fileprivate mutating func takeID() -> UInt16 {
        while true {
            let packetID = self.nextID
            self.nextID = self.nextID == .max ? 1 : self.nextID + 1
            if !self.inFlight.contains(where: { $0.packetID == packetID }) { return packetID }
        }
    }
}
