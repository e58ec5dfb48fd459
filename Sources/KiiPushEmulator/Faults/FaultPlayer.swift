import Glibc
import KiiPushCore

/// Does what a script says: to clients by connections in their place, to packets by the proxy.
final class FaultPlayer: Sendable {
    private let news: Mailbox<FaultNews>
    private let thread: OSThread

    /// - Parameters:
    ///   - news: where `service` says that something has happened.
    ///   - port: the broker's own.
    init(
        _ news: Mailbox<FaultNews>, service: CloudService, port: UInt16, proxy: PacketProxy<ProxyClients>
    ) throws(EmulatorError) {
        self.news = news
        self.thread = try OSThread(named: "kii-faults") {
            var loop = Loop(news: news, service: service, port: port, proxy: proxy)
            loop.run()
        }
    }

    /// Ends what is being done, and the thread. Blocks for a moment. Called once.
    func stop() {
        _ = self.news.post(.stop)
        self.thread.join()
    }

    /// A connection in the place of a client's, which cuts that one off.
    private struct Visit {
        let credential: BrokerCredential
        var connection: BrokerConnection?
        var nextAttempt = MonotonicInstant.now()
    }

    /// What is done for a time.
    private struct Stay {
        let place: FaultScriptRun.Place
        let end: MonotonicInstant
        var visits: [Visit] = []
    }

    /// What the thread owns.
    private struct Loop {
        /// How long a visitor that was cut off by its client stays away.
        private static let pause = Duration.seconds(1)
        private static let loginPatience: Int32 = 1000

        let news: Mailbox<FaultNews>
        let service: CloudService
        let port: UInt16
        let proxy: PacketProxy<ProxyClients>
        /// Which script it is done for.
        var script = 0
        var stay: Stay?

        mutating func run() {
            while true {
                let news = self.news.takeAll()
                if news.contains(where: { if case .stop = $0 { true } else { false } }) { break }
                let (task, script, due) = self.service.advanceFaults(news)
                if script != self.script { self.endAll() }
                self.script = script
                if let task { self.begin(task) }
                self.keepVisits()
                self.wait(until: due)
            }
            self.endAll()
        }

        // MARK: - Deeds

        private mutating func begin(_ task: FaultTask) {
            let (place, news) = (task.place, self.news)
            // Packets of all clients are found without knowing the clients.
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
                _ = news.post(.began(place))
            case .holdAcknowledgements(let time):
                let end = MonotonicInstant.now() + time
                self.stay = Stay(place: place, end: end)
                self.proxy.tell { loop in
                    for name in names { loop.rules.holdAcknowledgements(of: name, until: end) }
                    _ = news.post(.began(place))
                }
            case .renumber:
                self.proxy.tell { loop in
                    loop.rules.plan.renumbersPackets = true
                    _ = news.post(.ended(place, problem: nil))
                }
            case .message(let number, let action):
                self.proxy.tell { loop in
                    for name in names {
                        let rule = PacketRule(.publish, .toReceiver, nth: number, action, of: name)
                        loop.rules.arm(rule) { _ = news.post(.ended(place, problem: nil)) }
                    }
                    _ = news.post(.began(place))
                }
            }
        }

        private static let refusal = "the broker lets nobody in: no endpoint was handed out yet"

        /// Connects in the place of each client, and leaves at once.
        private func visit(_ task: FaultTask, cleanSession: Bool) {
            let connections = task.clients.compactMap { self.open($0, cleanSession: cleanSession) }
            for connection in connections { _ = connection.send(.disconnect) }
            self.end(task.place, connections.isEmpty ? Self.refusal : nil)
        }

        private func end(_ place: FaultScriptRun.Place, _ problem: String?) {
            _ = self.news.post(.ended(place, problem: problem))
        }

        private func open(_ credential: BrokerCredential, cleanSession: Bool = false) -> BrokerConnection? {
            // Whatever is in the way, the client is left alone.
            (try? BrokerConnection.open(
                port: self.port, credential: credential, clientID: BrokerFiles.topicPrefix + credential.username,
                cleanSession: cleanSession, patience: Self.loginPatience)) ?? nil
        }

        // MARK: - What takes time

        /// Comes back to clients that have cut a visitor off, as another receiver would, and leaves when the time is over.
        private mutating func keepVisits() {
            guard var stay = self.stay else { return }
            let now = MonotonicInstant.now()
            guard now < stay.end else {
                self.leave()
                return self.end(stay.place, nil)
            }
            for index in stay.visits.indices {
                // What comes is not acknowledged, so the client gets it again.
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

        /// Ends what is done for a script.
        private mutating func endAll() {
            self.leave()
            self.proxy.tell { $0.reset() }
        }

        private func wait(until due: Timestamp?) {
            var entries = [pollfd(fd: self.news.descriptor, events: Int16(POLLIN), revents: 0)]
            var times: [MonotonicInstant] = []
            if let due {
                let left = due.millisecondsSinceEpoch - Timestamp.now().millisecondsSinceEpoch
                times.append(.now() + .milliseconds(left))
            }
            if let stay = self.stay {
                times.append(stay.end)
                for visit in stay.visits {
                    guard let connection = visit.connection else {
                        times.append(visit.nextAttempt)
                        continue
                    }
                    entries.append(pollfd(fd: connection.descriptor, events: Int16(POLLIN), revents: 0))
                }
            }
            poll(&entries, nfds_t(entries.count), times.min()?.millisecondsLeft ?? -1)
        }
    }
}
