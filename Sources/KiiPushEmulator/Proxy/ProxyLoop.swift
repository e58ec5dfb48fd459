import Glibc
import KiiPushCore

/// What runs on the proxy's thread. Used by that thread alone.
final class ProxyLoop {
    typealias Command = @Sendable (ProxyLoop) -> Void

    var isStopped = false
    /// The broker's port; 0 while it is not known.
    var upstream: UInt16 = 0
    var rules: ProxyRules
    private let listeners: [ProxyListener]
    private let mailbox: Mailbox<Command>
    private let closing: ClosingConnections?
    private var links: [ProxyLink] = []
    /// Until when nobody is accepted; `nil` mostly.
    private var restsUntil: MonotonicInstant?

    /// - Parameter closing: where WebSockets go when they end.
    init(
        listeners: [ProxyListener], mailbox: Mailbox<Command>, observer: any ProxyObserver, closing: ClosingConnections?
    ) {
        self.listeners = listeners
        self.mailbox = mailbox
        self.closing = closing
        self.rules = ProxyRules(observer: observer)
    }

    func run() {
        while true {
            for command in self.mailbox.takeAll() { command(self) }
            guard !self.isStopped else { break }
            self.takeTurn()
        }
        for link in self.links {
            link.leave()
            link.close(.close, to: self.closing)
        }
        self.links = []
        for listener in self.listeners { listener.socket.shutDown(.both) }
        self.closing?.stop()
        // Who asked too late is not kept waiting.
        for command in self.mailbox.close() { command(self) }
    }

    func cutAll(_ cut: Cut) -> Int {
        let count = self.links.count
        for link in self.links { self.end(link, cut, byCut: true) }
        return count
    }

    func swallow(_ directions: Set<Direction>) -> Int {
        for link in self.links { link.swallow(directions) }
        return self.links.count
    }

    /// Whether no connection stands.
    var isIdle: Bool { self.links.isEmpty }

    /// Forgets what was asked for, and lets what is held back go.
    func reset() {
        self.rules.reset()
        for link in self.links { link.release() }
    }

    private func takeTurn() {
        if let end = self.restsUntil, end <= .now() { self.restsUntil = nil }
        var entries = [pollfd(fd: self.mailbox.descriptor, events: Int16(POLLIN), revents: 0)]
        for listener in self.listeners {
            let number = self.restsUntil == nil ? listener.socket.number : -1
            entries.append(pollfd(fd: number, events: Int16(POLLIN), revents: 0))
        }
        let first = entries.count
        var due = self.restsUntil
        for link in self.links {
            // A negative descriptor is passed over by poll.
            for socket in [link.receiver, link.broker] {
                let number = link.isEnding ? -1 : socket?.descriptor ?? -1
                entries.append(pollfd(fd: number, events: Int16(POLLIN), revents: 0))
            }
            if let next = link.due { due = min(due ?? next, next) }
        }
        // What waits to be sent and is not due waits for the clock. What a full socket did not take is tried again after
        // a millisecond: the proxy is slow then, which hurts nobody.
        let left = due.map { max($0 - .now(), .milliseconds(self.rules.plan.splitsIntoBytes ? 0 : 1)) }
        let milliseconds = left.map { Int32(clamping: $0.wholeMillisecondsRoundedUp) } ?? -1
        guard poll(&entries, nfds_t(entries.count), milliseconds) >= 0 else { return }
        // New ones come last, so that the entries stand for the links as they were.
        for (index, link) in self.links.enumerated() {
            let (receiver, broker) = (entries[first + 2 * index], entries[first + 2 * index + 1])
            self.serve(link, receiver.revents != 0, broker.revents != 0)
        }
        for (entry, listener) in zip(entries.dropFirst(), self.listeners) where entry.revents != 0 {
            self.accept(listener)
        }
        self.rules.tellFired()
    }

    private func serve(_ link: ProxyLink, _ hasReceiverNews: Bool, _ hasBrokerNews: Bool) {
        link.endPatience(self.rules)
        var isWhole = true
        if hasBrokerNews { isWhole = link.read(.toReceiver, &self.rules) }
        if isWhole, self.rules.cut == nil, hasReceiverNews { isWhole = link.read(.toBroker, &self.rules) }
        if let cut = self.rules.cut {
            self.rules.cut = nil
            _ = link.write(byteByByte: false)
            return self.end(link, cut, byCut: true)
        }
        guard isWhole else { return self.end(link, .reset, byCut: false) }
        guard link.write(byteByByte: self.rules.plan.splitsIntoBytes) else {
            return self.end(link, .reset, byCut: false)
        }
        if link.isOver { self.end(link, .close, byCut: false) }
    }

    private func accept(_ listener: ProxyListener) {
        var isAny = false
        while let receiver = ProxySocket.accept(listener) {
            isAny = true
            let renumbers = self.rules.plan.renumbersPackets
            let link = ProxyLink(receiver, over: listener.transport, to: self.upstream, renumbers: renumbers)
            guard !self.rules.plan.refusesConnections, link.begin() else {
                self.rules.observer.refused()
                link.close(.reset, to: nil)
                continue
            }
            link.number = self.rules.observer.connected()
            self.links.append(link)
        }
        // Somebody waits, and there is no descriptor left: accept(2), EMFILE. To ask at once again would be to spin.
        if !isAny { self.restsUntil = .now() + .milliseconds(100) }
    }

    private func end(_ link: ProxyLink, _ cut: Cut, byCut: Bool) {
        if !byCut { link.noteRest(self.rules) }
        link.close(cut, to: self.closing)
        self.links.removeAll { $0 === link }
        self.rules.observer.ended(link.number, byCut: byCut)
    }
}
