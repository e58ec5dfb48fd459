import Glibc
import KiiPushCore

/// What runs on the proxy's thread. Used by that thread alone.
final class ProxyLoop {
    typealias Command = @Sendable (ProxyLoop) -> Void

    var isStopped = false
    /// The broker's port; 0 while it is not known.
    var upstream: UInt16 = 0
    var rules: ProxyRules
    private let listener: FileDescriptor
    private let mailbox: Mailbox<Command>
    private var links: [ProxyLink] = []
    /// Until when nobody is accepted; `nil` mostly.
    private var restsUntil: MonotonicInstant?

    init(listener: FileDescriptor, mailbox: Mailbox<Command>, observer: any ProxyObserver) {
        self.listener = listener
        self.mailbox = mailbox
        self.rules = ProxyRules(observer: observer)
    }

    func run() {
        while true {
            for command in self.mailbox.takeAll() { command(self) }
            guard !self.isStopped else { break }
            self.takeTurn()
        }
        for link in self.links { link.close(.close) }
        self.links = []
        self.listener.shutDown(.both)
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
        var entries = [
            pollfd(fd: self.mailbox.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: self.restsUntil == nil ? self.listener.number : -1, events: Int16(POLLIN), revents: 0),
        ]
        var due = self.restsUntil
        for link in self.links {
            // A negative descriptor is passed over by poll.
            for socket in [link.receiver, link.broker] {
                entries.append(pollfd(fd: link.isEnding ? -1 : socket?.number ?? -1, events: Int16(POLLIN), revents: 0))
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
            self.serve(link, entries[2 + 2 * index].revents != 0, entries[3 + 2 * index].revents != 0)
        }
        if entries[1].revents != 0 { self.accept() }
        self.rules.tellFired()
    }

    private func serve(_ link: ProxyLink, _ hasReceiverNews: Bool, _ hasBrokerNews: Bool) {
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

    private func accept() {
        var isAny = false
        while let receiver = ProxySocket.accept(self.listener) {
            isAny = true
            let broker = self.rules.plan.refusesConnections ? nil : ProxySocket.connect(to: self.upstream)
            guard let broker else {
                self.rules.observer.refused()
                ProxyLink(number: 0, receiver: receiver, broker: nil).close(.reset)
                continue
            }
            let number = self.rules.observer.connected()
            let renumbers = self.rules.plan.renumbersPackets
            self.links.append(ProxyLink(number: number, receiver: receiver, broker: broker, renumbers: renumbers))
        }
        // Somebody waits, and there is no descriptor left: accept(2), EMFILE. To ask at once again would be to spin.
        if !isAny { self.restsUntil = .now() + .milliseconds(100) }
    }

    private func end(_ link: ProxyLink, _ cut: Cut, byCut: Bool) {
        if !byCut { link.noteRest(self.rules) }
        link.close(cut)
        self.links.removeAll { $0 === link }
        self.rules.observer.ended(link.number, byCut: byCut)
    }
}
