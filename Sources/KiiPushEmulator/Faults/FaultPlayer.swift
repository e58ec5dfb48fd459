import KiiPushCore

/// Plays a fault script. It takes over clients' sessions itself, and has the proxy change packets.
struct FaultPlayer: PollLoop {
    /// A connection with a client's own client ID. The broker closes the client's connection when this connection
    /// opens.
    private struct Visit {
        let credential: BrokerCredential
        var connection: BrokerConnection?
        var nextAttempt = MonotonicInstant.now()
    }

    private struct Stay {
        let place: FaultScriptRun.Place
        let end: MonotonicInstant
        var visits: [Visit] = []
    }

    /// The pause between the client's reconnection and the next takeover.
    private static let pause = Duration.seconds(1)
    private static let loginPatience = Duration.seconds(1)

    let news: PollThread<FaultNews>
    let service: CloudService
    let port: UInt16
    let proxy: PacketProxy<ProxyClients>
    private var script = 0
    private var stay: Stay?

    init(
        news: PollThread<FaultNews>, service: CloudService, port: UInt16, proxy: PacketProxy<ProxyClients>
    ) {
        self.news = news
        self.service = service
        self.port = port
        self.proxy = proxy
    }

    mutating func turn(_ news: [FaultNews], readable: Set<Int32>) -> PollWait? {
        let (task, script, due) = self.service.advanceFaults(news)
        if script != self.script { self.endAll() }
        self.script = script
        if let task { self.begin(task) }
        self.keepVisits()
        var wait = PollWait()
        if let due {
            let left = due.millisecondsSinceEpoch - Timestamp.now().millisecondsSinceEpoch
            wait.wake(at: .now() + .milliseconds(left))
        }
        if let stay = self.stay {
            wait.wake(at: stay.end)
            for visit in stay.visits {
                wait.watch(visit.connection?.descriptor)
                if visit.connection == nil { wait.wake(at: visit.nextAttempt) }
            }
        }
        return wait
    }

    mutating func end(_ unread: [FaultNews]) { self.endAll() }

    // MARK: - Deeds

    private mutating func begin(_ task: FaultTask) {
        let (place, news) = (task.place, self.news)
        // A rule with the user name `nil` affects all clients.
        let names: [String?] = task.installation == nil ? [nil] : task.clients.map { $0.username }
        guard !task.clients.isEmpty || (task.deed.needsProxy && task.installation == nil) else {
            let who = task.installation.map { "installation \($0)" } ?? "any installation"
            return self.end(place, "no client of \(who) is \(task.deed == .dropConnection ? "connected" : "known")")
        }
        switch task.deed {
        case .dropConnection: self.visit(task, cleanSession: false)
        case .loseSession: self.visit(task, cleanSession: true)
        case .takeOver(let time):
            let visits = task.clients.map { Visit(credential: $0, connection: self.open($0)) }
            guard visits.contains(where: { $0.connection != nil }) else { return self.end(place, Self.refusal) }
            self.stay = Stay(place: place, end: .now() + time, visits: visits)
            news.send(.began(place))
        case .holdAcknowledgements(let time):
            let end = MonotonicInstant.now() + time
            self.stay = Stay(place: place, end: end)
            self.proxy.tell { loop in
                for name in names { loop.rules.holdAcknowledgements(of: name, until: end) }
                news.send(.began(place))
            }
        case .renumber:
            self.proxy.tell { loop in
                loop.rules.plan.renumbersPackets = true
                news.send(.ended(place, problem: nil))
            }
        case .message(let number, let action):
            self.proxy.tell { loop in
                for name in names {
                    let rule = PacketRule(.publish, .toReceiver, nth: number, action, of: name)
                    loop.rules.arm(rule) { news.send(.ended(place, problem: nil)) }
                }
                news.send(.began(place))
            }
        }
    }

    private static let refusal = "the broker lets nobody in: no endpoint was handed out yet"

    private func visit(_ task: FaultTask, cleanSession: Bool) {
        let connections = task.clients.compactMap { self.open($0, cleanSession: cleanSession) }
        for connection in connections { _ = connection.send(.disconnect) }
        self.end(task.place, connections.isEmpty ? Self.refusal : nil)
    }

    private func end(_ place: FaultScriptRun.Place, _ problem: String?) {
        self.news.send(.ended(place, problem: problem))
    }

    private func open(_ credential: BrokerCredential, cleanSession: Bool = false) -> BrokerConnection? {
        // If the connection fails, the fault does not affect this client.
        (try? BrokerConnection.open(
            port: self.port, credential: credential, clientID: BrokerFiles.topicPrefix + credential.username,
            cleanSession: cleanSession, patience: Self.loginPatience)) ?? nil
    }

    // MARK: - Actions that last

    /// Takes over a session again after its client has reconnected, until the action's time is over.
    private mutating func keepVisits() {
        guard var stay = self.stay else { return }
        let now = MonotonicInstant.now()
        guard now < stay.end else {
            self.leave()
            return self.end(stay.place, nil)
        }
        for index in stay.visits.indices {
            // Messages stay unacknowledged here, so the broker redelivers them to the client.
            if let connection = stay.visits[index].connection, !connection.receive({ _ in }) {
                stay.visits[index].connection = nil
                stay.visits[index].nextAttempt = now + Self.pause
            }
            guard stay.visits[index].connection == nil, stay.visits[index].nextAttempt <= now else { continue }
            stay.visits[index].connection = self.open(stay.visits[index].credential)
            stay.visits[index].nextAttempt = now + Self.pause
        }
        self.stay = stay
    }

    private mutating func leave() {
        for visit in self.stay?.visits ?? [] { _ = visit.connection?.send(.disconnect) }
        self.stay = nil
    }

    private mutating func endAll() {
        self.leave()
        self.proxy.tell { $0.reset() }
    }
}
