package import KiiPushCore

/// Finds the push that belongs to a receiver's message.
///
/// Kii's payloads have no message ID. So a push belongs to a message with the same payload bytes and installation. If
/// several pushes match, the earliest push belongs to the earliest message. A receiver reports payload and
/// installation when it calls a handler. Until then, this type stores the message's events.
package struct VerdictJoin: Sendable {
    /// The numbers of pushes and messages to remember. At twice the number, the older half is dropped.
    private static let (mostPushes, mostMessages) = (1000, 5000)
    /// This limit does not apply to a single push.
    private static let mostBytes = 16 << 20
    private static let mostHeld = 16

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

    private struct Equal {
        var numbers: [Int] = []
        /// By installation, the lowest number of a push that may belong to the next message.
        var next: [String: Int] = [:]
    }

    private struct Key: Hashable {
        var receiver: String
        var messageID: Int64
    }

    fileprivate struct Message {
        var push: MessageLabel?
        var installationID: String?
        var startedAt: Timestamp?
        var held: [MessageEvent] = []
    }

    /// Oldest first, with consecutive numbers from ``firstNumber``.
    private var pushes: [Push] = []
    private var firstNumber = 0
    private var bytes = 0
    private var equal: [[UInt8]: Equal] = [:]
    private var messages: [Key: Message] = [:]
    /// The keys of `messages`, oldest first.
    private var order: [Key] = []

    package init() {}

    /// Call this before the receivers can get the pushes.
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

    /// Returns the events that no longer wait for a handler's call, and the stored events of messages that were dropped
    /// for room. Pass a message's events in the order in which the receiver reported them.
    package mutating func take(_ event: MessageEvent, of receiver: String) -> [MessageDelivery] {
        let key = Key(receiver: receiver, messageID: event.messageID)
        let told = self.messages[key] == nil ? self.makeRoom(for: key) : []
        var message = self.messages[key] ?? Message()
        defer { self.messages[key] = message }
        switch event.kind {
        // If the message is known, either its dead letter is retried, or the receiver has lost its inbox and numbers
        // messages from 1 again. The payload, which comes with the handler's call, shows which of the two it was.
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
        // The push already contains the payload, so this copy is dropped.
        self.event.call = nil
        guard event.isOutcome, event.kind.parts.attempt != nil, let startedAt = message.startedAt else { return }
        let milliseconds = event.at.millisecondsSinceEpoch - startedAt.millisecondsSinceEpoch
        self.elapsed = .milliseconds(max(0, milliseconds))
    }
}
