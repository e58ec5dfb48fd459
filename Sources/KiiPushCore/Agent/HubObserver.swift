/// Tells each agent what happened to its messages.
struct HubObserver: DeliveryObserver {
    /// Who hears of an installation's messages, by the store's key.
    let hubs: Locked<[Int64: EventHub]>
    /// Where messages are.
    let keeping: MessageEvent.Keeping
    /// How many listen to these hubs.
    let listeners: Locked<Int>

    var isListening: Bool { self.listeners.withLock { $0 } > 0 }

    func deliveryHappened(_ events: [DeliveryEvent]) {
        let known = self.hubs.withLock { $0 }
        // They come in runs of one installation, mostly with no listener.
        var latest: (installation: Int64, hub: EventHub?)?
        let events = events.span
        for index in events.indices {
            let installation = events[index].installation
            if latest?.installation != installation {
                latest = (installation, known[installation].flatMap { $0.hasListeners ? $0 : nil })
            }
            latest?.hub?.emit(.message(MessageEvent(events[index], self.keeping)))
        }
    }

    func deliveryStalled(_ stall: DeliveryStall) { self.emit(.deliveryStalled(reason: stall.description)) }

    func deliveryRecovered() { self.emit(.deliveryRecovered) }

    private func emit(_ event: PushEvent) {
        for hub in self.hubs.withLock({ Array($0.values) }) { hub.emit(event) }
    }
}
