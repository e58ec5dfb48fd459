#if Postgres
import Foundation
import Glibc
import KiiPushCore
import KiiPushEmulator
import KiiPushPostgres
import SeededNumbers
import TestSupport

/// Gateways in processes of their own, one database, one emulator, and pushes to all agents all the time.
final class FleetTrial: Sendable {
    enum Fault: String, CaseIterable, Sendable {
        case kill = "gateway killed"
        case freeze = "gateway frozen past its lease"
        case leave = "gateway stopped by SIGTERM"
        case database = "database crashed"
    }

    /// What happens to a process that is to be running.
    private struct Place {
        var process: ChildProgram?
        var isFrozen = false
    }

    private let options: TrialOptions
    private let ready = Locked<Set<String>>([])
    private let topic = Topic("news")

    init(_ options: TrialOptions) { self.options = options }

    func run() async throws -> TrialOutcome {
        try await withEmulator { emulator, directory in
            let server = try await PostgresServer([])
            let target = try await server.makeDatabase()
            let fleet = Fleet(.postgres(target))
            try await fleet.migrate()
            _ = try await PostgresServer.run(
                "CREATE SCHEMA trial; CREATE TABLE trial.handled (agent text NOT NULL, n bigint NOT NULL)", at: target)
            let runtime = try emulator.runtime(directory + "/admin", inbox: .memory)
            let client = runtime.client(for: emulator.app)
            let admin = client.session(try await emulator.adminToken(client))
            try await admin.createTopic(self.topic)
            try await fleet.add(
                (1...self.options.agents).map { number in
                    var agent = PushAgent.Configuration(
                        name: "agent-\(number)", app: emulator.app, account: .pseudoUser,
                        subscriptions: [.topic(self.topic)])
                    agent.usesTLS = false
                    return agent
                })
            let log = directory + "/handled"
            var places: [Place] = []
            for number in 1...self.options.gateways {
                places.append(Place(process: try self.start(number, target, log, directory)))
            }
            self.say("waiting for \(self.options.agents) agents")
            try await self.until(minutes: 10) { self.ready.withLock { $0.count } == self.options.agents }
            // An agent that is connected may not be subscribed yet.
            try await Task.sleep(for: .seconds(3))
            let sent = Locked(0)
            let isOver = Locked(false)
            let topic = self.topic
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
            let end = ContinuousClock.now + .seconds(self.options.seconds)
            var round = 0
            while ContinuousClock.now < end {
                try await Task.sleep(for: .seconds(5))
                // Each kind in turn, of a gateway that chance names.
                let fault = Fault.allCases[round % Fault.allCases.count]
                let place = Int.random(in: places.indices, using: &random)
                round += 1
                outcome.faults[fault, default: 0] += 1
                self.say("\(fault.rawValue)\(fault == .database ? "" : ": \(place + 1)")")
                switch fault {
                case .kill:
                    places[place].process?.signal(SIGKILL)
                    _ = places[place].process?.wait()
                case .freeze:
                    places[place].process?.signal(SIGSTOP)
                    try await Task.sleep(for: .seconds(14))
                    places[place].process?.signal(SIGCONT)
                    // One that was frozen before it had its name is not fenced.
                    let status = try await self.status(of: places[place].process, within: .seconds(60))
                    if status == 75 { outcome.fenced += 1 }
                case .leave:
                    places[place].process?.signal(SIGTERM)
                    if try await self.status(of: places[place].process) == 0 { outcome.handedOver += 1 }
                case .database: try await server.crash()
                }
                guard fault != .database else { continue }
                places[place].process = try self.start(place + 1, target, log, directory)
            }
            isOver.withLock { $0 = true }
            try await sending
            outcome.pushes = sent.withLock { $0 }
            self.say("\(outcome.pushes) pushes to each; waiting for the last")
            let expected = outcome.pushes * self.options.agents
            try? await self.until(minutes: 3) { HandledLines(log).counts.count >= expected }
            for place in places { place.process?.signal(SIGTERM) }
            for place in places { _ = try await self.status(of: place.process) }
            outcome.read(HandledLines(log))
            let rows = "SELECT count(*) || ' ' || count(DISTINCT (agent, n)) FROM trial.handled"
            outcome.read(rows: try await PostgresServer.run(rows, at: target))
            outcome.unhandled = try await fleet.status().gateways.reduce(0) { $0 + $1.unhandled }
            await runtime.shutdown()
            return outcome
        }
    }

    private func start(_ number: Int, _ target: String, _ log: String, _ directory: String) throws -> ChildProgram {
        let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path
        let name = "gateway-\(number)"
        return try ChildProgram([program, "gateway", name, target, log, "\(directory)/\(name)"]) { [ready] line in
            if line.hasPrefix("ready ") { ready.withLock { _ = $0.insert(String(line.dropFirst(6))) } }
        }
    }

    /// How it ends. One that goes on for longer is stopped.
    private func status(of process: ChildProgram?, within limit: Duration = .seconds(600)) async throws -> Int32 {
        guard let process else { return 0 }
        async let _: Void = {
            try? await Task.sleep(for: limit)
            if !Task.isCancelled { process.signal(SIGTERM) }
        }()
        return try await onThread { process.wait() }
    }

    private func until(minutes: Int, _ isReached: () -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(60 * minutes)
        while !isReached() {
            guard ContinuousClock.now < end else { throw TestFailure("it took more than \(minutes) minutes") }
            try await Task.sleep(for: .milliseconds(500))
        }
    }

    private func say(_ text: String) { FileHandle.standardError.write(Data("script/fleet: \(text)\n".utf8)) }
}
#endif
