/// Tells each agent what happened to its messages.
struct HubObserver: DeliveryObserver {
    /// Who hears of an installation's messages, by the store's key.
    let hubs: Locked<[Int64: EventHub]>
    /// Where messages are kept.
    let keeping: Keeping
    /// How many listen to these hubs.
    let listeners: Locked<Int>

    var isListening: Bool { self.listeners.withLock { $0 } > 0 }

    /// Where messages are kept.
    enum Keeping: Sendable {
        case file
        case memory
        /// Another process has them, which started this one.
        case launcher
    }

    func deliveryHappened(_ notes: [DeliveryNote], at now: Timestamp) {
        let known = self.hubs.withLock { $0 }
        // They come in runs of one installation, mostly with no listener.
        var latest: (installation: Int64, hub: EventHub?)?
        let notes = notes.span
        for index in notes.indices {
            let installation = notes[index].installation
            if latest?.installation != installation {
                latest = (installation, known[installation].flatMap { $0.hasListeners ? $0 : nil })
            }
            latest?.hub?.emit(.message(self.event(notes[index], at: now)))
        }
    }

    private func event(_ note: DeliveryNote, at now: Timestamp) -> MessageEvent {
        var event = MessageEvent(
            messageID: note.sequence, at: now, kind: note.kind, isKept: self.keeping != .memory)
        if self.keeping == .launcher, case .dead(.attemptsFailed(let failure), _) = note.kind {
            event.kind = .handedBack(failure)
        }
        return event
    }

    func deliveryStalled(_ stall: DeliveryStall) { self.emit(.deliveryStalled(reason: stall.description)) }

    func deliveryRecovered() { self.emit(.deliveryRecovered) }

    private func emit(_ event: PushEvent) {
        for hub in self.hubs.withLock({ Array($0.values) }) { hub.emit(event) }
    }
}
