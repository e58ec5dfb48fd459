import Glibc
import KiiPushCore

final class BrokerSupervisor: PollLoop {
    private static let attempts = 5
    private static let lookMilliseconds: Int32 = 5
    private static let retryPause = Duration.milliseconds(200)

    private(set) var ports: BrokerPorts
    private let settings: Broker.Settings
    private var passwords: PasswordFile
    private var child: TetheredProcess?
    private var logWatch: FileWatch?
    private var onStop: [@Sendable () -> Void] = []

    init(_ settings: Broker.Settings) throws(EmulatorError) {
        self.settings = settings
        self.ports = settings.ports
        self.passwords = try PasswordFile(
            path: settings.files.passwords, programs: settings.programs, known: settings.usernames)
        try self.passwords.set([settings.publisher])
        try self.startOnFreePorts()
    }

    func turn(_ messages: [Broker.Message], readable: Set<Int32>) -> PollWait? {
        // inotify events are cleared before the log is read, so that a later line causes a new event.
        self.logWatch?.reset()
        self.settings.presence.look()
        self.rewriteIfStale()
        self.serve(messages)
        guard self.onStop.isEmpty else { return nil }
        if !self.isRunning { self.restart() }
        let hasToRetry = self.child == nil || self.passwords.isStale || self.logWatch == nil
        var wait = PollWait(until: hasToRetry ? .now() + BrokerSupervisor.retryPause : nil)
        wait.watch(self.child?.lifeline.number)
        wait.watch(self.logWatch?.descriptor.number)
        return wait
    }

    func end(_ unread: [Broker.Message]) {
        self.settings.presence.look()
        self.stopChild()
        for message in unread {
            switch message {
            case .grant(_, let completion): completion(false)
            case .revoke: break
            case .stop(let completion): self.onStop.append(completion)
            }
        }
        for completion in self.onStop { completion() }
    }

    private var isRunning: Bool { self.child?.isRunning(afterMilliseconds: 0) ?? false }

    // MARK: - Starting

    private func startOnFreePorts() throws(EmulatorError) {
        var preferred = self.settings.preferredPorts
        for _ in 0..<BrokerSupervisor.attempts {
            self.ports = BrokerPorts(
                tcp: try self.choosePort(self.settings.ports.tcp, preferred: preferred.tcp, not: 0), tls: 0)
            self.ports.tls = try self.choosePort(self.settings.ports.tls, preferred: preferred.tls, not: self.ports.tcp)
            if try self.start() { return }
            // Another process may have taken a port after the check of the port, so the next attempt prefers no port.
            preferred = BrokerPorts(tcp: 0, tls: 0)
        }
        throw self.failure("mosquitto ended at its start")
    }

    private func failure(_ what: String) -> EmulatorError {
        EmulatorError(.brokerFailed, "\(what): \(self.settings.files.lastLogLines())")
    }

    private func choosePort(_ wanted: UInt16, preferred: UInt16, not taken: UInt16) throws(EmulatorError) -> UInt16 {
        if wanted != 0 {
            guard let port = try LoopbackSocket.freePort(preferring: wanted) else {
                throw EmulatorError(.portInUse(wanted), "port \(wanted) of 127.0.0.1 is taken")
            }
            return port
        }
        if preferred != 0, preferred != taken, let port = try LoopbackSocket.freePort(preferring: preferred) {
            return port
        }
        while true {
            guard let port = try LoopbackSocket.freePort() else { continue }
            // 1883 is the usual port of brokers. Another broker, stopped at the moment, may need it.
            if port != taken, port != 1883 { return port }
        }
    }

    /// Returns `false` if mosquitto has ended, for example because another process used a port.
    private func start() throws(EmulatorError) -> Bool {
        let files = self.settings.files
        try files.write(ports: self.ports, persistence: self.settings.persistence, isRoot: geteuid() == 0)
        self.settings.presence.restart(tlsPort: self.ports.tls)
        self.child = try TetheredProcess(
            program: self.settings.programs.mosquitto, arguments: ["-c", files.configuration], output: files.log,
            inherited: self.settings.lock.file, launcher: self.settings.programs.setpriv)
        // If the system has no inotify watch left, the loop reads the log periodically.
        self.logWatch = try? FileWatch(files.log)
        do throws(EmulatorError) {
            if try self.waitUntilAccepted(self.settings.publisher, patience: self.settings.patience.start) {
                return true
            }
            guard !self.isRunning else { throw self.failure("mosquitto takes no connections") }
        } catch {
            self.stopChild()
            throw error
        }
        self.stopChild()
        return false
    }

    private func stopChild() {
        guard let child = self.child.take() else { return }
        child.stop(patience: Int32(clamping: self.settings.patience.stop.wholeMillisecondsRoundedUp))
    }

    private func restart() {
        if let child = self.child.take() { _ = child.wait() }
        // The restart removes the old log, so its last lines are read first.
        self.settings.presence.look()
        // The broker's log has the reason for a failure. Until a restart succeeds, sends over MQTT get 503.
        _ = try? self.start()
    }

    /// mosquitto may miss a SIGHUP while it reads its files, so the signal is repeated.
    private static let repeatsSignalAfter = Duration.milliseconds(200)

    /// - Parameter signalledAt: the time of the SIGHUP for this credential; `nil` if none was sent.
    private func waitUntilAccepted(
        _ credential: BrokerCredential, patience: Duration, signalledAt: MonotonicInstant? = nil
    ) throws(EmulatorError) -> Bool {
        let deadline = MonotonicInstant.now() + patience
        var signalledAt = signalledAt
        while true {
            let left = deadline - MonotonicInstant.now()
            guard left > .zero else { return false }
            // A probe with the installation's own client ID would take over the installation's session.
            let probeID = BrokerConnections.probeID
            if let connection = try BrokerConnection.open(
                port: self.ports.tcp, credential: credential, clientID: probeID, patience: left)
            {
                _ = connection.send(.disconnect)
                return true
            }
            if let last = signalledAt, .now() - last > Self.repeatsSignalAfter {
                self.child?.signal(SIGHUP)
                signalledAt = .now()
            }
            // mosquitto does not report when it listens or has read its files, so the loop tries to log in repeatedly.
            guard self.child?.isRunning(afterMilliseconds: BrokerSupervisor.lookMilliseconds) ?? false else {
                return false
            }
        }
    }

    // MARK: - Serving

    private func serve(_ messages: [Broker.Message]) {
        var credentials: [BrokerCredential] = []
        var revoked: [String] = []
        var completions: [@Sendable (Bool) -> Void] = []
        for message in messages {
            switch message {
            case .grant(let more, let completion):
                credentials += more.filter { !self.passwords.contains($0.username) }
                completions.append(completion)
            case .revoke(let usernames): revoked += usernames
            case .stop(let completion): self.onStop.append(completion)
            }
        }
        // User names are not reused. So a name in both lists was granted before it was revoked, and is not added.
        let lockedOut = Set(revoked)
        credentials.removeAll { lockedOut.contains($0.username) }
        let isAccepted = self.update(credentials, revoked: revoked)
        for completion in completions { completion(isAccepted) }
    }

    private func update(_ credentials: [BrokerCredential], revoked: [String]) -> Bool {
        guard !credentials.isEmpty || !revoked.isEmpty else { return self.isRunning }
        do throws(EmulatorError) {
            if !revoked.isEmpty {
                self.settings.presence.forget(revoked)
                try self.passwords.remove(revoked)
            }
            if !credentials.isEmpty { try self.passwords.set(credentials) }
            self.child?.signal(SIGHUP)
            guard let last = credentials.last else { return true }
            return try self.waitUntilAccepted(last, patience: self.settings.patience.grant, signalledAt: .now())
        } catch {
            // A waiting HTTP client gets 503 and may repeat the request. A later turn of the loop removes the revoked
            // names.
            return false
        }
    }

    private func rewriteIfStale() {
        // If the password file cannot be written now, the loop's next turn tries again.
        guard self.passwords.isStale, (try? self.passwords.rewrite()) != nil else { return }
        self.child?.signal(SIGHUP)
    }
}
