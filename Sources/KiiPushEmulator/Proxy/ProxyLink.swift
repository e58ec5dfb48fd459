import Glibc
import KiiPushCore

/// One connection through the proxy: the receiver's socket, the broker's, and a flow each way. On the proxy's thread.
final class ProxyLink {
    let number: Int
    private(set) var receiver: FileDescriptor?
    private(set) var broker: FileDescriptor?
    private var toBroker = Flow(.toBroker)
    private var toReceiver = Flow(.toReceiver)
    /// Whether one side has ended, so that the other is ended when all is sent.
    private(set) var isEnding = false
    /// The name that the receiver logged in with, once that was read.
    private var username: String?
    /// Whether packet identifiers of QoS 1 are counted anew. One that changed under way could mean two messages.
    private let renumbers: Bool
    private var lastIdentifier: UInt16 = 0
    /// By the identifier that the receiver sees, what the broker calls it.
    private var brokerIdentifiers: [UInt16: UInt16] = [:]

    init(number: Int, receiver: FileDescriptor, broker: FileDescriptor?, renumbers: Bool = false) {
        self.number = number
        self.receiver = receiver
        self.broker = broker
        self.renumbers = renumbers
    }

    /// Lets what is held back go at once.
    func release() {
        self.toBroker.release()
        self.toReceiver.release()
    }

    /// Lets what goes in these directions disappear from now on.
    func swallow(_ directions: Set<Direction>) {
        if directions.contains(.toBroker) { self.toBroker.isSwallowed = true }
        if directions.contains(.toReceiver) { self.toReceiver.isSwallowed = true }
    }

    /// When something waits to be sent; `nil` when nothing does.
    var due: MonotonicInstant? {
        [self.toBroker.due, self.toReceiver.due].compactMap { $0 }.min()
    }

    /// Whether nothing is left to do.
    var isOver: Bool {
        self.isEnding && self.toBroker.isEmpty && self.toReceiver.isEmpty || self.receiver == nil && self.broker == nil
    }

    /// Takes in what a socket has; `false` when the other side has to be reset at once.
    func read(_ direction: Direction, _ rules: inout ProxyRules) -> Bool {
        guard let source = direction == .toBroker ? self.receiver : self.broker else { return true }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = source.receive(into: &buffer)
        if count < 0, errno == EAGAIN { return true }
        guard count > 0 else { return self.ended(direction) || count == 0 }
        let bytes = Array(buffer[..<count])
        switch direction {
        case .toBroker: return self.pass(bytes, &self.toBroker, &rules)
        case .toReceiver: return self.pass(bytes, &self.toReceiver, &rules)
        }
    }

    /// Sends what is due; `false` when a socket is broken.
    func write(byteByByte: Bool) -> Bool {
        let isSent = self.toBroker.send(to: self.broker, byteByByte: byteByByte)
        return self.toReceiver.send(to: self.receiver, byteByByte: byteByByte) && isSent
    }

    /// Notes what the receiver had said before the end, though nobody hears it any more.
    func noteRest(_ rules: ProxyRules) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while let receiver = self.receiver, !self.toBroker.isSwallowed {
            let count = receiver.receive(into: &buffer)
            guard count > 0, let packets = self.toBroker.packets(from: Array(buffer[..<count])) else { return }
            for packet in packets { rules.observer.passed(packet, .toBroker, connection: self.number, copies: 1) }
        }
    }

    /// Closes both sides.
    func close(_ cut: Cut) {
        for socket in [self.receiver, self.broker] where cut == .reset {
            var option = linger(l_onoff: 1, l_linger: 0)
            if let socket {
                setsockopt(socket.number, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
            }
        }
        self.receiver = nil
        self.broker = nil
    }

    /// Passes the end of one side on, unless what comes from there disappears; then the other side learns nothing of
    /// it, as when a cable is pulled. Returns whether it disappeared.
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
            return false
        }
    }

    private func pass(_ bytes: [UInt8], _ flow: inout Flow, _ rules: inout ProxyRules) -> Bool {
        let packets = flow.packets(from: bytes)
        guard !flow.isSwallowed else { return true }
        guard let packets else {
            let passing = rules.passing(bytes.count, flow.direction)
            flow.enqueue(bytes[..<passing], after: rules.cut == nil ? rules.plan.delay : .zero)
            return true
        }
        for original in packets {
            var packet = original
            rules.observer.received(&packet, flow.direction)
            if self.renumbers { self.renumber(&packet, flow.direction) }
            if let username = packet.username { self.username = username }
            // Told is what the receiver sees.
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
                flow.enqueue(packet.bytes[...], after: .zero)
                rules.cut = cut
                return true
            }
            rules.observer.passed(seen, flow.direction, connection: self.number, copies: copies)
            let delay = rules.delay(of: packet.header.type, flow.direction, from: self.username)
            for _ in 0..<copies { flow.enqueue(packet.bytes[...], after: delay) }
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
