import Glibc
import KiiPushCore

/// One connection through the proxy. Rules apply to MQTT packets, without the frames of a WebSocket.
final class ProxyLink {
    var number = 0
    private(set) var receiver: ProxySocket?
    private(set) var broker: ProxySocket?
    private let transport: BrokerTransport
    private let upstream: UInt16
    private var webSocket: ProxyWebSocket?
    private var patienceEnd: MonotonicInstant?
    private var toBroker = Flow(.toBroker)
    private var toReceiver = Flow(.toReceiver)
    /// Whether one side has closed or was refused. The connection ends when all bytes are sent.
    private(set) var isEnding = false
    private var username: String?
    /// Whether packet identifiers of QoS 1 are renumbered. Constant for a connection: after a change, one identifier
    /// could mean two messages in flight.
    private let renumbers: Bool
    private var lastIdentifier: UInt16 = 0
    /// The broker's identifier for each identifier that the receiver sees.
    private var brokerIdentifiers: [UInt16: UInt16] = [:]

    init(_ receiver: ProxySocket, over transport: BrokerTransport, to upstream: UInt16, renumbers: Bool) {
        self.receiver = receiver
        self.transport = transport
        self.upstream = upstream
        self.renumbers = renumbers
    }

    /// Returns `false` if the broker does not listen. A WebSocket connects to the broker later.
    func begin() -> Bool {
        guard self.transport.isWebSocket else { return self.connect() }
        self.webSocket = ProxyWebSocket()
        self.patienceEnd = .now() + ProxyWebSocket.patience
        return true
    }

    private func connect() -> Bool {
        self.broker = ProxySocket.connect(to: self.upstream, for: self.transport)
        return self.broker != nil
    }

    func release() {
        self.toBroker.release()
        self.toReceiver.release()
    }

    func swallow(_ directions: Set<Direction>) {
        if directions.contains(.toBroker) { self.toBroker.isSwallowed = true }
        if directions.contains(.toReceiver) { self.toReceiver.isSwallowed = true }
    }

    var due: MonotonicInstant? {
        [self.toBroker.due, self.toReceiver.due, self.patienceEnd].compactMap { $0 }.min()
    }

    var isOver: Bool {
        self.isEnding && self.toBroker.isEmpty && self.toReceiver.isEmpty || self.receiver == nil && self.broker == nil
    }

    /// Returns `false` if the connection must be reset at once.
    func read(_ direction: Direction, _ rules: inout ProxyRules) -> Bool {
        guard let source = direction == .toBroker ? self.receiver : self.broker else { return true }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = source.receive(into: &buffer)
        if count < 0, errno == EAGAIN { return true }
        if let failure = source.failure {
            self.end(with: "the handshake of TLS failed: \(failure)", rules)
            return true
        }
        guard count > 0 else { return self.ended(direction) || count == 0 }
        let bytes = Array(buffer[..<count])
        switch direction {
        case .toBroker where self.webSocket != nil: return self.takeOff(bytes, &rules)
        case .toBroker: return self.pass(bytes, &self.toBroker, &rules)
        case .toReceiver: return self.pass(bytes, &self.toReceiver, &rules)
        }
    }

    func endPatience(_ rules: ProxyRules) {
        guard let end = self.patienceEnd, end <= .now() else { return }
        let patience = ProxyWebSocket.patience.components.seconds
        self.refuse(
            WebSocketServerHandshake.answer(408, "No request for a WebSocket came within \(patience) s."), rules)
    }

    private func takeOff(_ bytes: [UInt8], _ rules: inout ProxyRules) -> Bool {
        // Dropped bytes, and bytes after the WebSocket's end, get no answer.
        guard var webSocket = self.webSocket, !self.toBroker.isSwallowed, !self.isEnding else { return true }
        var frames = bytes
        switch webSocket.readRequest(bytes) {
        case nil: break
        case .refused(let answer):
            self.refuse(answer, rules)
            return true
        case .opened(let answer, let taken):
            guard self.connect() else {
                self.refuse(WebSocketServerHandshake.answer(503, "The broker takes no connections; try again."), rules)
                return true
            }
            self.patienceEnd = nil
            self.toReceiver.enqueue(answer[...], after: .zero)
            frames.removeFirst(taken)
        }
        let (mqtt, answer) = webSocket.unwrap(frames)
        self.webSocket = webSocket
        let isWhole = mqtt.isEmpty || self.pass(mqtt, &self.toBroker, &rules)
        self.toReceiver.enqueue(answer[...], after: .zero)
        if let end = webSocket.end, !self.isEnding { self.end(with: end.words, isFault: end.isFault, rules) }
        return isWhole
    }

    private func refuse(_ answer: [UInt8], _ rules: ProxyRules) {
        self.toReceiver.enqueue(answer[...], after: .zero)
        self.end(with: ProxyWebSocket.words(of: answer), rules)
    }

    private func end(with words: String, isFault: Bool = true, _ rules: ProxyRules) {
        self.isEnding = true
        self.patienceEnd = nil
        rules.observer.ended(EndedWebSocket(transport: self.transport, reason: words, isFault: isFault))
    }

    /// Closes the WebSocket because the emulator ends. If the receiver's socket is full, the receiver misses the
    /// closing frame.
    func leave() {
        guard let frame = self.webSocket?.close(WebSocketFrame.closePayload(1001)) else { return }
        self.toReceiver.enqueue(frame[...], after: .zero)
        _ = self.toReceiver.send(to: self.receiver, byteByByte: false)
    }

    func write(byteByByte: Bool) -> Bool {
        let isSent = self.toBroker.send(to: self.broker, byteByByte: byteByByte)
        return self.toReceiver.send(to: self.receiver, byteByByte: byteByByte) && isSent
    }

    /// Reports the receiver's last packets to the observer, although the broker does not get them.
    func noteRest(_ rules: ProxyRules) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while let receiver = self.receiver, !self.toBroker.isSwallowed {
            let count = receiver.receive(into: &buffer)
            guard count > 0 else { return }
            let bytes = self.webSocket?.unwrap(Array(buffer[..<count])).mqtt ?? Array(buffer[..<count])
            guard let packets = self.toBroker.packets(from: bytes) else { return }
            for packet in packets { rules.observer.passed(packet, .toBroker, connection: self.number, copies: 1) }
        }
    }

    /// - Parameter closing: keeps a receiver's connection open until the receiver has read the end of its WebSocket.
    func close(_ cut: Cut, to closing: ClosingConnections?) {
        for socket in [self.receiver, self.broker] where cut == .reset { socket?.resetAtEnd() }
        if cut == .close, self.webSocket != nil, let closing { self.receiver?.leave(to: closing) }
        self.receiver = nil
        self.broker = nil
    }

    /// Ends the receiving side too, unless this direction drops all bytes: the receiving side then notices nothing, as
    /// with an unplugged cable. Returns whether this direction drops all bytes.
    private func ended(_ direction: Direction) -> Bool {
        switch direction {
        case .toBroker where self.toBroker.isSwallowed:
            self.receiver = nil
            return true
        case .toReceiver where self.toReceiver.isSwallowed:
            self.broker = nil
            return true
        default:
            self.isEnding = true
            self.patienceEnd = nil
            guard direction == .toReceiver, let frame = self.webSocket?.close(WebSocketFrame.closePayload(1000)) else {
                return false
            }
            self.toReceiver.enqueue(frame[...], after: .zero)
            return false
        }
    }

    private func enqueue(_ bytes: ArraySlice<UInt8>, _ flow: inout Flow, after delay: Duration) {
        let isFramed = flow.direction == .toReceiver && self.webSocket != nil && !bytes.isEmpty
        flow.enqueue(isFramed ? ProxyWebSocket.wrap(bytes)[...] : bytes, after: delay)
    }

    private func pass(_ bytes: [UInt8], _ flow: inout Flow, _ rules: inout ProxyRules) -> Bool {
        let packets = flow.packets(from: bytes)
        guard !flow.isSwallowed else { return true }
        guard let packets else {
            let passing = rules.passing(bytes.count, flow.direction)
            self.enqueue(bytes[..<passing], &flow, after: rules.cut == nil ? rules.plan.delay : .zero)
            return true
        }
        for original in packets {
            var packet = original
            rules.observer.received(&packet, flow.direction)
            if self.renumbers { self.renumber(&packet, flow.direction) }
            if let username = packet.username { self.username = username }
            // The observer gets the packet with the identifier that the receiver sees.
            let seen = flow.direction == .toReceiver ? packet : original
            let copies: Int
            switch rules.action(packet.header.type, flow.direction, of: self.username) {
            case nil, .pass: copies = 1
            case .drop: copies = 0
            case .duplicate: copies = 2
            case .swallowRest:
                flow.isSwallowed = true
                return true
            case .cutInstead(let cut):
                rules.observer.passed(seen, flow.direction, connection: self.number, copies: 0)
                rules.cut = cut
                return true
            case .cutAfter(let cut):
                rules.observer.passed(seen, flow.direction, connection: self.number, copies: 1)
                self.enqueue(packet.bytes[...], &flow, after: .zero)
                rules.cut = cut
                return true
            }
            rules.observer.passed(seen, flow.direction, connection: self.number, copies: copies)
            let delay = rules.delay(of: packet.header.type, flow.direction, from: self.username)
            for _ in 0..<copies { self.enqueue(packet.bytes[...], &flow, after: delay) }
        }
        return true
    }

    private func renumber(_ packet: inout ProxyPacket, _ direction: Direction) {
        guard let identifier = packet.packetID else { return }
        switch (packet.header.type, direction) {
        case (.publish, .toReceiver) where packet.header.flags & 0b0110 == 0b0010:
            self.lastIdentifier = self.lastIdentifier == .max ? 1 : self.lastIdentifier + 1
            self.brokerIdentifiers[self.lastIdentifier] = identifier
            packet.renumber(self.lastIdentifier)
        case (.puback, .toBroker):
            if let original = self.brokerIdentifiers[identifier] { packet.renumber(original) }
        default: break
        }
    }
}
