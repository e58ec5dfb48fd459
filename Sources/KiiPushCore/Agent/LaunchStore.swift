/// What delivery has of the messages that an ``Activator`` sent: they are kept over there, where the verdicts go.
final class LaunchStore: DeliveryStore {
    private struct Entry {
        var message: StoredMessage
        /// It is not in delivery's memory.
        var isWaiting: Bool
    }

    private let channel: LaunchChannel
    private let entries = Locked<[Int64: Entry]>([:])

    init(_ channel: LaunchChannel) { self.channel = channel }

    /// Takes a message that has come, for delivery to load.
    func add(_ message: StoredMessage) {
        self.entries.withLock { $0[message.sequence] = Entry(message: message, isWaiting: true) }
    }

    /// Gives delivery a message that it has not loaded; false if it has.
    func take(_ sequence: Int64) -> Bool {
        self.entries.withLock { entries in
            defer { entries[sequence]?.isWaiting = false }
            return entries[sequence]?.isWaiting == true
        }
    }

    /// Messages that have no verdict yet.
    var openMessages: [Int64] { self.entries.withLock { $0.keys.sorted() } }

    func record(_ changes: [DeliveryChange]) {
        for change in changes {
            switch change.verdict {
            case .done(let result): self.finish(change.sequence, .result(result))
            case .dead(.rejected(let reason)): self.finish(change.sequence, .rejected(reason))
            case .dead(.undecodable(let reason)): self.finish(change.sequence, .rejected("undecodable: \(reason)"))
            case .dead(.command): self.finish(change.sequence, .rejected("the program takes no thing-if commands"))
            case .dead, .retry: self.finish(change.sequence, .result(.failed))
            case .waiting, .unpresented: self.entries.withLock { $0[change.sequence]?.isWaiting = true }
            case .inHand: self.entries.withLock { $0[change.sequence]?.isWaiting = false }
            // Nothing is shown here: who has the messages does that.
            case .presented, .opened, .unopened: break
            }
        }
    }

    func record(_ changes: [DeliveryChange], thenDurably committed: @escaping @Sendable () -> Void) {
        self.record(changes)
        committed()
    }

    func load(_ request: DeliveryLoad, deliver: @escaping @Sendable (DeliveryPage) -> Void) {
        let page = self.entries.withLock { entries in
            let start: Int64
            switch request.kind {
            case .waiting: start = 0
            case .scan(let after): start = after
            // It knows of no earlier process, and tries nothing again by itself.
            case .paused, .suspects, .retries: return DeliveryPage(messages: [], isComplete: true)
            }
            let found = entries.values
                .filter {
                    $0.isWaiting && $0.message.installation == request.installation && $0.message.sequence > start
                }
                .map(\.message).sorted { $0.sequence < $1.sequence }
            let messages = Array(found.prefix(request.limit))
            if request.kind.isMarking { for message in messages { entries[message.sequence]?.isWaiting = false } }
            return DeliveryPage(messages: messages, isComplete: messages.count == found.count)
        }
        deliver(page)
    }

    private func finish(_ sequence: Int64, _ verdict: ActivationVerdict) {
        let isOpen = self.entries.withLock { $0.removeValue(forKey: sequence) != nil }
        if isOpen { self.channel.send(.verdict(id: sequence, verdict)) }
    }
}
