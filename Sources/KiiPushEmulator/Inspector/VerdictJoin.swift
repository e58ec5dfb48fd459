package import KiiPushCore

/// Finds out which push a message is that a receiver tells of. Pure.
///
/// Kii's payloads carry no message ID. What a push has in common with a received message is the payload, byte for byte, and
/// the installation; of equal pushes to one installation, the first that was sent is the first to be handled. The receiver
/// tells both when a handler is called, so what it tells of the message before that is held until then.
package struct VerdictJoin: Sendable {
    /// How many pushes and how many messages are remembered at least; of twice as many the older half is let go of.
    private static let (mostPushes, mostMessages) = (1000, 5000)
    /// What the pushes weigh at most, but for the last one.
    private static let mostBytes = 16 << 20
    /// The events of one message that are held at most.
    private static let mostHeld = 16

    /// What tells a push from others: its payloads, and the installations that each was written for.
    package struct Push: Sendable {
        fileprivate let label: MessageLabel
        fileprivate let payloads: [(bytes: [UInt8], installations: Set<String>)]

        package init(_ label: MessageLabel, _ payloads: [(bytes: [UInt8], installations: [String])]) {
            self.label = label
            self.payloads = payloads.map { ($0.bytes, Set($0.installations)) }
        }

        fileprivate var bytes: Int { self.payloads.reduce(256) { $0 + $1.bytes.count + 64 * $1.installations.count } }

        fileprivate func went(to installationID: String, as payload: [UInt8]) -> Bool {
            self.payloads.contains { $0.bytes == payload && $0.installations.contains(installationID) }
        }
    }

    /// The pushes that have a payload.
    private struct Equal {
        /// Their numbers, oldest first.
        var numbers: [Int] = []
        /// By installation, the first number that its receiver may still tell of.
        var next: [String: Int] = [:]
    }

    private struct Key: Hashable {
        var receiver: String
        var messageID: Int64
    }

    fileprivate struct Message {
        var push: MessageLabel?
        var installationID: String?
        /// When its last attempt began.
        var startedAt: Timestamp?
        var held: [MessageEvent] = []
    }

    /// Oldest first; each has its number, the first one ``firstNumber``.
    private var pushes: [Push] = []
    private var firstNumber = 0
    private var bytes = 0
    private var equal: [[UInt8]: Equal] = [:]
    private var messages: [Key: Message] = [:]
    /// The keys of `messages`, oldest first.
    private var order: [Key] = []

    package init() {}

    /// Takes note of pushes, before they can be received.
    package mutating func add(_ sent: [Push]) {
        for push in sent {
            let number = self.firstNumber + self.pushes.count
            self.pushes.append(push)
            self.bytes += push.bytes
            for payload in push.payloads { self.equal[payload.bytes, default: Equal()].numbers.append(number) }
        }
        while self.pushes.count >= 2 * Self.mostPushes || self.bytes > Self.mostBytes && self.pushes.count > 1 {
            self.forget(self.pushes.count / 2)
        }
    }

    /// Lets go of the oldest pushes.
    private mutating func forget(_ count: Int) {
        for push in self.pushes.prefix(count) {
            self.bytes -= push.bytes
            for (payload, _) in push.payloads {
                self.equal[payload]?.numbers.removeFirst()
                if self.equal[payload]?.numbers.isEmpty == true { self.equal[payload] = nil }
            }
        }
        self.pushes.removeFirst(count)
        self.firstNumber += count
    }

    /// Takes in what a receiver tells of a message, in its order. Returns what is known by that.
    package mutating func take(_ event: MessageEvent, of receiver: String) -> [MessageDelivery] {
        let key = Key(receiver: receiver, messageID: event.messageID)
        let told = self.messages[key] == nil ? self.makeRoom(for: key) : []
        var message = self.messages[key] ?? Message()
        defer { self.messages[key] = message }
        switch event.kind {
        // A dead letter is tried again, or the receiver has lost its inbox and counts anew. The payload will tell.
        case .received:
            message = Message(push: message.push)
            message.held = [event]
            return told
        case .duplicate, .isolated, .retried:
            guard message.startedAt == nil else { break }
            if message.held.count < Self.mostHeld { message.held.append(event) }
            return told
        case .started:
            if case .handler(let payload, let context)? = event.call, message.installationID == nil {
                message.installationID = context.installationID
                message.push = self.push(message.push, to: context.installationID, as: payload.payloadBytes)
            }
            message.startedAt = event.at
        default: break
        }
        defer { message.held = [] }
        return told + (message.held + [event]).map { MessageDelivery(message, $0, of: receiver) }
    }

    /// - Parameter former: which push the message was when it was handled before.
    private mutating func push(
        _ former: MessageLabel?, to installationID: String, as payload: [UInt8]
    ) -> MessageLabel? {
        guard let equal = self.equal[payload] else { return nil }
        func push(_ number: Int) -> Push { self.pushes[number - self.firstNumber] }
        func isMeant(_ number: Int) -> Bool { push(number).went(to: installationID, as: payload) }
        if former != nil, equal.numbers.contains(where: { push($0).label == former && isMeant($0) }) { return former }
        let next = equal.next[installationID] ?? 0
        guard let number = equal.numbers.first(where: { $0 >= next && isMeant($0) }) else { return nil }
        self.equal[payload]?.next[installationID] = number + 1
        return push(number).label
    }

    /// Returns what was held of messages that are let go of: nobody will find out which pushes they are.
    private mutating func makeRoom(for key: Key) -> [MessageDelivery] {
        self.order.append(key)
        guard self.order.count >= 2 * Self.mostMessages else { return [] }
        let oldest = self.order.prefix(Self.mostMessages)
        self.order.removeFirst(Self.mostMessages)
        return oldest.flatMap { key -> [MessageDelivery] in
            guard let message = self.messages.removeValue(forKey: key) else { return [] }
            return message.held.map { MessageDelivery(message, $0, of: key.receiver) }
        }
    }
}

extension VerdictJoin.Push {
    /// `nil` for what no receiver of this package gets.
    init?(_ message: LoggedMessage) {
        let payloads = message.renderings.compactMap { rendering in
            message.deliveries[rendering.network].map { (rendering.message, $0) }
        }
        guard message.kind != .command, !payloads.isEmpty else { return nil }
        self.init(message.label, payloads)
    }
}

extension MessageDelivery {
    fileprivate init(_ message: VerdictJoin.Message, _ event: MessageEvent, of receiver: String) {
        self.init(push: message.push, receiver: receiver, installationID: message.installationID, event: event)
        // The push has the payload, and nobody shows this one.
        self.event.call = nil
        guard event.isOutcome, event.kind.parts.attempt != nil, let startedAt = message.startedAt else { return }
        let milliseconds = event.at.millisecondsSinceEpoch - startedAt.millisecondsSinceEpoch
        self.elapsed = .milliseconds(max(0, milliseconds))
    }
}
