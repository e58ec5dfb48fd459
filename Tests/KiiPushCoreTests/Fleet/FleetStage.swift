#if Postgres
import Foundation
import KiiPushCore
import KiiPushEmulator
import TestSupport

@testable import KiiPushPostgres

/// Gateways of a fleet in this process, with one database, one emulator and its broker.
final class FleetStage: Sendable {
    private struct Handled {
        var counts: [String: [Int64: Int]] = [:]
        var total = 0
        var subscribed: Set<String> = []
        var connected: Set<String> = []
        var principals: [String: Set<Principal>] = [:]
    }

    let emulator: Emulator
    let directory: String
    let targets: [String]
    let fleet: Fleet
    private let handled = Monitor(Handled())
    private let topic = Topic("news")

    init(_ emulator: Emulator, _ directory: String, _ targets: [String]) {
        (self.emulator, self.directory, self.targets) = (emulator, directory, targets)
        self.fleet = Fleet(.postgres(targets))
    }

    var target: String { self.targets[0] }

    static func run(databases: Int = 1, _ body: (FleetStage) async throws -> Void) async throws {
        try await withEmulator { emulator, directory in
            var targets: [String] = []
            for _ in 0..<databases { targets.append(try await PostgresServer.database()) }
            let stage = FleetStage(emulator, directory, targets)
            try await stage.fleet.makeTables()
            try await body(stage)
        }
    }

    func agent(_ name: String, account: KiiAccount = .pseudoUser) -> PushAgent.Configuration {
        var agent = PushAgent.Configuration(
            name: name, app: self.emulator.app, account: account, subscriptions: [.topic(self.topic)])
        agent.usesTLS = false
        return agent
    }

    static func each(_ agents: Int, _ numbers: ClosedRange<Int64>) -> [String: [Int64: Int]] {
        Dictionary(
            uniqueKeysWithValues: (1...agents).map { agent in
                ("agent-\(agent)", Dictionary(uniqueKeysWithValues: numbers.map { ($0, 1) }))
            })
    }

    func declare(_ count: Int) async throws {
        try await self.admin { try await $0.createTopic(self.topic) }
        try await self.fleet.add((1...count).map { self.agent("agent-\($0)") })
    }

    func send(_ numbers: ClosedRange<Int64>) async throws {
        try await self.admin { session in
            for number in numbers {
                _ = try await session.send(PushMessage(data: ["n": JSONValue(number)]), to: .topic(self.topic))
            }
        }
    }

    private func admin(_ body: (KiiSession) async throws -> Void) async throws {
        let runtime = try self.emulator.runtime(self.directory + "/admin", inbox: .memory)
        let client = runtime.client(for: self.emulator.app)
        try await body(client.session(self.emulator.adminToken(client)))
        await runtime.shutdown()
    }

    func sql(_ text: String) async throws -> String { try await PostgresServer.run(text, at: self.target) }

    func begin(
        _ gateway: String, lease: Duration = .seconds(30), grace: Duration? = nil, isStrictlyOrdered: Bool = false,
        _ handle: @escaping @Sendable (String, Int64, DeliveryContext, FetchCompletion) -> Void = { $3(.newData) }
    ) throws -> RunningGateway {
        var configuration = self.configuration(gateway)
        configuration.isStrictlyOrdered = isStrictlyOrdered
        if let grace { configuration.shutdownGrace = grace }
        let runtime = try PushRuntime(
            .postgres(self.target), gateway: gateway, configuration: configuration, lease: lease)
        let events = AsyncStream.makeStream(of: FleetEvent.self)
        let receiving = Task {
            defer { events.continuation.finish() }
            try await runtime.receive(
                handler: { self.handler($0, handle) }, observer: self.observe, tell: { events.continuation.yield($0) })
        }
        return RunningGateway(runtime: runtime, events: events.stream, receiving: receiving)
    }

    func receive(as gateway: String) -> Task<Void, any Error> {
        Task {
            try await self.fleet.receive(
                as: gateway, configuration: self.configuration(gateway),
                handler: { self.handler($0) { $3(.newData) } }, observer: self.observe)
        }
    }

    private func configuration(_ gateway: String) -> PushRuntime.Configuration {
        var configuration = PushRuntime.Configuration.patient(stateDirectory: "\(self.directory)/\(gateway)")
        configuration.certificateAuthorityFile = self.emulator.certificateAuthorityFile
        return configuration
    }

    private func handler(
        _ agent: String, _ handle: @escaping @Sendable (String, Int64, DeliveryContext, FetchCompletion) -> Void
    ) -> NumberHandler {
        NumberHandler { number, context, completion in
            self.change { handled in
                handled.counts[agent, default: [:]][number, default: 0] += 1
                handled.total += 1
            }
            handle(agent, number, context, completion)
        }
    }

    private func observe(_ agent: String, _ event: PushEvent) {
        switch event {
        case .subscribed: self.change { _ = $0.subscribed.insert(agent) }
        case .connected: self.change { _ = $0.connected.insert(agent) }
        case .registered(let registration):
            self.change { _ = $0.principals[agent, default: []].insert(registration.principal) }
        default: break
        }
    }

    private func change(_ body: (inout Handled) -> Void) {
        self.handled.withLock { body(&$0) }
        self.handled.signalAll()
    }

    private func wait(_ isReached: @escaping @Sendable (Handled) -> Bool) async throws {
        try await onThread { self.handled.wait { isReached($0) ? .leave(()) : .sleep(until: nil) } }
    }

    func waitForSubscriptions(of count: Int) async throws {
        try await self.wait { $0.subscribed.intersection($0.connected).count >= count }
    }
    func waitForMessages(_ count: Int) async throws { try await self.wait { $0.total >= count } }

    func waitForVerdicts(_ count: Int) async throws {
        try await self.wait(until: "(SELECT count(*) FROM kii_push.message WHERE state = 4) = \(count)")
    }

    func waitForRows(_ count: Int) async throws {
        try await self.wait(until: "(SELECT count(*) FROM kii_push.message) = \(count)")
    }

    func wait(until condition: String) async throws {
        try await PostgresServer.wait(until: condition, at: self.target)
    }

    func waitForGateways(_ isReached: ([FleetStatus.Gateway]) -> Bool) async throws {
        while try await !isReached(self.fleet.status().gateways) { try await Task.sleep(for: .milliseconds(10)) }
    }

    var counts: [String: [Int64: Int]] { self.handled.withLock { $0.counts } }
    var users: [Int] { self.handled.withLock { $0.principals.values.map(\.count) } }
}

struct RunningGateway: Sendable {
    let runtime: PushRuntime
    let events: AsyncStream<FleetEvent>
    let receiving: Task<Void, any Error>

    @discardableResult
    func first(where isWanted: (FleetEvent) -> Bool) async throws -> FleetEvent {
        for await event in self.events where isWanted(event) { return event }
        try await self.receiving.value
        throw TestFailure("the gateway ended before what was waited for")
    }

    func waitForShards(_ count: Int) async throws {
        try await self.first { if case .holding(count, _, _) = $0 { true } else { false } }
    }

    func end() async throws {
        self.receiving.cancel()
        try await self.receiving.value
        await self.runtime.shutdown()
    }
}

final class NumberHandler: RemoteNotificationHandler {
    private let handle: @Sendable (Int64, DeliveryContext, FetchCompletion) -> Void

    init(_ handle: @escaping @Sendable (Int64, DeliveryContext, FetchCompletion) -> Void) { self.handle = handle }

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        self.handle(message.rawPayload["n"]?.int64 ?? 0, context, completion)
    }
}
#endif
