package struct HubObserver {
    let hubs: Locked<[Int64: EventHub]>
    let keeping: Keeping
    let listeners: Locked<Int>

    package init(hubs: Locked<[Int64: EventHub]>, keeping: Keeping, listeners: Locked<Int>) {
        (self.hubs, self.keeping, self.listeners) = (hubs, keeping, listeners)
    }

    var isListening: Bool { self.listeners.withLock { $0 } > 0 }
    var running: Set<Int64> { self.hubs.withLock { Set($0.keys) } }

    /// The place of stored messages. `elsewhere` is the process of the agent's ``MessageFeed``.
    package enum Keeping: Sendable { case file, memory, elsewhere }

    func tell(_ notes: [DeliveryNote], at now: Timestamp, handlers: [Int64: DeliveryAttachment]) {
        let known = self.hubs.withLock { $0 }
        var latest: (installation: Int64, hub: EventHub?)?
        let notes = notes.span
        for index in notes.indices {
            let installation = notes[index].installation
            if latest?.installation != installation {
                latest = (installation, known[installation].flatMap { $0.hasListeners ? $0 : nil })
            }
            guard let hub = latest?.hub else { continue }
            let event = self.event(notes[index], at: now)
            hub.emit(.message(event), toListener: event.telling(notes[index], handlers[installation]?.id))
        }
    }

    private func event(_ note: DeliveryNote, at now: Timestamp) -> MessageEvent {
        var event = MessageEvent(messageID: note.sequence, at: now, kind: note.kind, isKept: self.keeping != .memory)
        if self.keeping == .elsewhere, case .dead(.attemptsFailed(let failure), _) = note.kind {
            event.kind = .handedBack(failure)
        }
        return event
    }

    func emit(_ event: PushEvent) {
        for hub in self.hubs.withLock({ Array($0.values) }) { hub.emit(event) }
    }
}

extension MessageEvent {
    /// The event with the handler's arguments, for the control server; `nil` if no handler was called.
    fileprivate func telling(_ note: DeliveryNote, _ installationID: String?) -> PushEvent? {
        guard case .started(let attempt) = self.kind, let queued = note.message, let installationID,
            case .message(let message) = queued.content
        else { return nil }
        let context = DeliveryContext(
            installationID: installationID, messageID: self.messageID, receivedAt: queued.receivedAt, attempt: attempt)
        var event = self
        event.call = .handler(message, context)
        return .message(event)
    }
}

extension PushEvent {
    static func change(of kind: Trouble, _ reason: String?) -> PushEvent {
        reason.map { .trouble(kind, reason: $0) } ?? .recovered(kind)
    }
}
