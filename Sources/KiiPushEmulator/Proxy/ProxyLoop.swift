import KiiPushCore

final class ProxyLoop: PollLoop {
    typealias Command = @Sendable (ProxyLoop) -> Void

    var upstream: UInt16 = 0
    var rules: ProxyRules
    private let listeners: [ProxyListener]
    private let closing: ClosingConnections?
    private var links: [ProxyLink] = []
    /// The end of a pause in accepting connections; usually `nil`.
    private var restsUntil: MonotonicInstant?

    init(listeners: [ProxyListener], observer: any ProxyObserver, closing: ClosingConnections?) {
        self.listeners = listeners
        self.closing = closing
        self.rules = ProxyRules(observer: observer)
    }

    func turn(_ commands: [Command], readable: Set<Int32>) -> PollWait? {
        func hasNews(_ socket: ProxySocket?) -> Bool { socket.map { readable.contains($0.descriptor) } ?? false }
        for link in self.links { self.serve(link, hasNews(link.receiver), hasNews(link.broker)) }
        for listener in self.listeners where readable.contains(listener.socket.number) { self.accept(listener) }
        self.rules.tellFired()
        for command in commands { command(self) }
        return self.nextWait()
    }

    func end(_ unread: [Command]) {
        for link in self.links {
            link.leave()
            link.close(.close, to: self.closing)
        }
        self.links = []
        for listener in self.listeners { listener.socket.shutDown(.both) }
        // The senders of these commands may wait for a result, so the commands still run.
        for command in unread { command(self) }
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

    var isIdle: Bool { self.links.isEmpty }

    func reset() {
        self.rules.reset()
        for link in self.links { link.release() }
    }

    private func nextWait() -> PollWait {
        if let end = self.restsUntil, end <= .now() { self.restsUntil = nil }
        var wait = PollWait()
        if self.restsUntil == nil {
            for listener in self.listeners { wait.watch(listener.socket.number) }
        }
        var due = self.restsUntil
        for link in self.links {
            if !link.isEnding {
                wait.watch(link.receiver?.descriptor)
                wait.watch(link.broker?.descriptor)
            }
            if let next = link.due { due = min(due ?? next, next) }
        }
        // The loop does not poll for room in a full socket, but tries again after a millisecond.
        let pause: Duration = self.rules.plan.splitsIntoBytes ? .zero : .milliseconds(1)
        wait.deadline = due.map { max($0, .now() + pause) }
        return wait
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
        // accept(2) failed, for example because no descriptor is left (EMFILE). An immediate retry would loop.
        if !isAny { self.restsUntil = .now() + .milliseconds(100) }
    }

    private func end(_ link: ProxyLink, _ cut: Cut, byCut: Bool) {
        if !byCut { link.noteRest(self.rules) }
        link.close(cut, to: self.closing)
        self.links.removeAll { $0 === link }
        self.rules.observer.ended(link.number, byCut: byCut)
    }
}
