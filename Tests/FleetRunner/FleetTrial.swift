#if Postgres
import Faults
import Foundation
import Glibc
import KiiPushCore
import KiiPushEmulator
import KiiPushPostgres
import SeededNumbers
import TestSupport

/// A trial with gateways in separate processes, one database, one emulator, and a steady stream of pushes to all
/// agents.
final class FleetTrial: Sendable {
    private let options: TrialOptions
    /// The gateway at which each agent was last connected.
    private let ready = Locked<[String: Int]>([:])
    private let topic = Topic("news")

    init(_ options: TrialOptions) { self.options = options }

    func run() async throws -> TrialOutcome {
        try await withEmulator { emulator, directory in
            let server = try await PostgresServer([])
            let target = try await server.makeDatabase()
            let database = TrialDatabase(server, try await self.standby(of: server), target)
            let fleet = Fleet(.postgres(target))
            try await fleet.makeTables()
            try await database.run(
                "CREATE SCHEMA trial; CREATE TABLE trial.handled (agent text NOT NULL, n bigint NOT NULL)")
            let runtime = try emulator.runtime(directory + "/admin", inbox: .memory)
            let client = runtime.client(for: emulator.app)
            let admin = client.session(try await emulator.adminToken(client))
            try await admin.createTopic(self.topic)
            try await fleet.add((1...self.options.agents).map { self.agent($0, emulator) })
            let log = directory + "/handled"
            var places = try (1...self.options.gateways).map { number in
                let name = "gateway-\(number)"
                let relay = try DatabaseRelay(in: "\(directory)/relay-\(number)", to: server.directory)
                let words = [
                    "gateway", name, database.target(through: relay), log, "\(directory)/\(name)",
                ]
                return TrialPlace(process: try self.start(words, number), words: words, relay: relay)
            }
            self.say("waiting for \(self.options.agents) agents")
            try await self.until(minutes: 10) { self.ready.withLock { $0.count } == self.options.agents }
            // A connected agent may not be subscribed yet.
            try await Task.sleep(for: .seconds(3))
            let (sent, isOver, topic) = (Locked(0), Locked(false), self.topic)
            // About 400 messages a second.
            let pause = Duration.milliseconds(max(200, self.options.agents * 5 / 2))
            async let sending: Void = {
                while !isOver.withLock({ $0 }) {
                    let number = sent.withLock { $0 + 1 }
                    _ = try await admin.send(PushMessage(data: ["n": JSONValue(number)]), to: .topic(topic))
                    sent.withLock { $0 = number }
                    try await Task.sleep(for: pause)
                }
            }()
            var outcome = TrialOutcome(agents: self.options.agents)
            var random = SeededGenerator(seed: self.options.seed)
            var menu = self.options.faults
            let end = ContinuousClock.now + .seconds(self.options.seconds)
            // Each fault comes at least once.
            while !menu.isEmpty, ContinuousClock.now < end || menu.contains(where: { outcome.faults[$0] == nil }) {
                try await Task.sleep(for: .seconds(5))
                // The faults come in turn, each at a random gateway. Only one failover is possible, because there is
                // one standby.
                let fault = menu.removeFirst()
                if fault != .failover { menu.append(fault) }
                let place = Int.random(in: places.indices, using: &random)
                outcome.faults[fault, default: 0] += 1
                self.say("\(fault.title)\(fault.isOfAGateway ? ": \(place + 1)" : "")")
                switch fault {
                case .crash: try await database.server.crash()
                case .away:
                    // Longer than the lease plus the time that agents have to stop.
                    for place in places { place.relay.cut() }
                    try await Task.sleep(for: .seconds(16))
                    for place in places { place.relay.mend() }
                case .failover: try await database.failOver(places.map(\.relay))
                case .broker:
                    guard let broker = BrokerProcess.current(of: emulator) else { throw TestFailure("no broker") }
                    Glibc.kill(broker.pid, SIGSTOP)
                    try await Task.sleep(for: .seconds(8))
                    Glibc.kill(broker.pid, SIGCONT)
                case .kill, .freeze, .cut, .leave:
                    // A gateway that waits for its name has no lease to lose.
                    if fault.isFencing {
                        try await self.until(minutes: 2) { try await database.areAllAlive(places.count) }
                    }
                    let killed = ContinuousClock.now
                    let agents = self.ready.withLock { $0.filter { $0.value == place + 1 }.keys }
                    try await self.hit(&places[place], fault, &outcome)
                    if fault == .kill { self.ready.withLock { for agent in agents { $0[agent] = nil } } }
                    places[place].process = try self.start(places[place].words, place + 1)
                    guard fault == .kill else { break }
                    try await self.until(minutes: 2) { self.ready.withLock { $0.count } == self.options.agents }
                    outcome.longestTakeover = max(outcome.longestTakeover, ContinuousClock.now - killed)
                }
            }
            isOver.withLock { $0 = true }
            try await sending
            outcome.pushes = sent.withLock { $0 }
            self.say("\(outcome.pushes) pushes to each; waiting for the last")
            let expected = outcome.pushes * self.options.agents
            try? await self.until(minutes: 3) { HandledLines(log).counts.count >= expected }
            for place in places { place.process.signal(SIGTERM) }
            for place in places { outcome.expect(0, try await self.status(of: place.process), after: "SIGTERM") }
            outcome.read(HandledLines(log))
            outcome.read(rows: try await database.run("SELECT count(*), count(DISTINCT (agent, n)) FROM trial.handled"))
            outcome.unhandled = try await Fleet(.postgres(database.target)).status().gateways.reduce(0) {
                $0 + $1.unhandled
            }
            await runtime.shutdown()
            return outcome
        }
    }

    private func agent(_ number: Int, _ emulator: Emulator) -> PushAgent.Configuration {
        var agent = PushAgent.Configuration(
            name: "agent-\(number)", app: emulator.app, account: .pseudoUser, subscriptions: [.topic(self.topic)])
        agent.usesTLS = false
        return agent
    }

    private func standby(of server: PostgresServer) async throws -> PostgresServer? {
        self.options.faults.contains(.failover) ? try await server.makeStandby() : nil
    }

    private func hit(_ place: inout TrialPlace, _ fault: Fault, _ outcome: inout TrialOutcome) async throws {
        guard place.process.isRunning else {
            return outcome.unexpected.append("status \(try await self.status(of: place.process)) before \(fault.title)")
        }
        switch fault {
        case .kill: place.process.signal(SIGKILL)
        case .leave: place.process.signal(SIGTERM)
        case .freeze:
            place.process.signal(SIGSTOP)
            try await Task.sleep(for: .seconds(14))
            place.process.signal(SIGCONT)
        case .cut:
            place.relay.cut()
            try await Task.sleep(for: .seconds(14))
            place.relay.mend()
        case .crash, .away, .broker, .failover: return
        }
        let status = try await self.status(of: place.process, within: .seconds(60))
        switch fault {
        case .leave: outcome.expect(0, status, after: fault.title)
        case .kill: outcome.expect(-SIGKILL, status, after: fault.title)
        case .freeze, .cut:
            outcome.expect(75, status, after: fault.title)
            if status == 75 { outcome.fenced[fault, default: 0] += 1 }
        case .crash, .away, .broker, .failover: break
        }
        if fault == .leave, status == 0 { outcome.handedOver += 1 }
    }

    private func start(_ words: [String], _ number: Int) throws -> ChildProgram {
        let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path
        return try ChildProgram([program] + words) { [ready] line in
            if line.hasPrefix("ready ") { ready.withLock { $0[String(line.dropFirst(6))] = number } }
        }
    }

    /// The exit status. A process that outlives the limit is stopped.
    private func status(of process: ChildProgram, within limit: Duration = .seconds(600)) async throws -> Int32 {
        async let _: Void = {
            try? await Task.sleep(for: limit)
            if !Task.isCancelled { process.signal(SIGTERM) }
        }()
        return try await onThread { process.wait() }
    }

    private func until(minutes: Int, _ isReached: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(60 * minutes)
        while try await !isReached() {
            guard ContinuousClock.now < end else { throw TestFailure("it took more than \(minutes) minutes") }
            try await Task.sleep(for: .milliseconds(500))
        }
    }

    private func say(_ text: String) { FileHandle.standardError.write(Data("script/fleet: \(text)\n".utf8)) }
}

/// A gateway's process, which the trial restarts after each fault.
private struct TrialPlace {
    var process: ChildProgram
    let words: [String]
    let relay: DatabaseRelay
}
#endif
