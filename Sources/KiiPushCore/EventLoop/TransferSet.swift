import CCurl

final class TransferSet {
    private static let spareHandles = 64

    /// A transfer's timer fires this much after libcurl's own timeout, whose message says more.
    private static let grace = Duration.milliseconds(100)

    private let multi: EventedMulti
    private let options: ConnectionOptions
    private let timers: TimerHeap
    private var running: [ObjectIdentifier: Transfer] = [:]
    private var spare: [CurlEasy] = []

    init(
        _ configuration: EventLoop.Configuration, options: ConnectionOptions, timers: TimerHeap, sockets: Epoll
    ) throws(TransportError) {
        self.multi = try EventedMulti(sockets: sockets)
        self.options = options
        self.timers = timers
        try self.multi.set(CURLMOPT_MAX_HOST_CONNECTIONS, configuration.maximumConnectionsPerHost)
        // libcurl's default depends on the number of running transfers, and would close the connections of a burst.
        try self.multi.set(CURLMOPT_MAXCONNECTS, configuration.maximumConnectionsPerHost)
    }

    func start(_ request: HTTPRequest, ticket: TransferTicket, continuation: TransferTicket.Continuation) {
        guard !ticket.isCancelled else { return continuation.resume(throwing: CancellationError()) }
        do {
            let easy = try self.spare.popLast() ?? self.freshHandle()
            self.options.reloadChangedAuthorities(easy, usesTLS: !request.url.hasPrefix("http:"))
            let transfer = try Transfer(request, ticket: ticket, continuation: continuation, easy: easy)
            try self.multi.add(transfer.easy)
            // libcurl does not check the time of a transfer that waits for a connection, so a timer does.
            transfer.timer = self.schedule(ticket, after: request.timeout + TransferSet.grace)
            if let patience = request.bodyPatience {
                transfer.onHead = { [weak self] in self?.allow(patience, forBodyOf: ticket) }
            }
            self.running[ObjectIdentifier(ticket)] = transfer
        } catch {
            continuation.resume(throwing: error)
        }
    }

    private func schedule(_ ticket: TransferTicket, after limit: Duration) -> TimerID {
        self.timers.schedule(at: .now() + limit) { [weak self] in
            self?.end(ticket) { $0.outcome(CURLE_OPERATION_TIMEDOUT) }
        }
    }

    private func allow(_ patience: Duration, forBodyOf ticket: TransferTicket) {
        guard let transfer = self.running[ObjectIdentifier(ticket)] else { return }
        if let timer = transfer.timer { self.timers.cancel(timer) }
        transfer.timer = self.schedule(ticket, after: patience)
    }

    func cancel(_ ticket: TransferTicket) { self.end(ticket) { _ in .failure(CancellationError()) } }

    func endAll(_ error: TransportError) {
        for transfer in self.running.values { self.end(transfer.ticket) { _ in .failure(error) } }
        self.spare = []
    }

    var deadline: MonotonicInstant? { self.multi.deadline }

    func process(now: MonotonicInstant) {
        self.multi.advance(at: now) { (transfer: Transfer, code) in
            if code == CURLE_OK, transfer.isAnsweredByKeptConnection, self.restart(transfer) { return }
            self.end(transfer.ticket) { $0.outcome(code) }
        }
    }

    private func restart(_ transfer: Transfer) -> Bool {
        self.multi.remove(transfer.easy)
        do {
            try transfer.restart()
            try self.multi.add(transfer.easy)
            return true
        } catch {
            return false
        }
    }

    private func freshHandle() throws(TransportError) -> CurlEasy {
        let easy = try CurlEasy()
        try Transfer.prepare(easy, self.options)
        return easy
    }

    private func end(_ ticket: TransferTicket, _ outcome: (Transfer) -> Result<HTTPResponse, any Error>) {
        guard let transfer = self.running.removeValue(forKey: ObjectIdentifier(ticket)) else { return }
        let result = outcome(transfer)
        if let timer = transfer.timer { self.timers.cancel(timer) }
        self.multi.remove(transfer.easy)
        if self.spare.count < TransferSet.spareHandles, (try? transfer.release(self.options)) != nil {
            self.spare.append(transfer.easy)
        }
        transfer.continuation.resume(with: result)
    }
}
