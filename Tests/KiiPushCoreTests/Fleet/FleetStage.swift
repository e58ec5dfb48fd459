#if Postgres
import Foundation
import KiiPushCore
import KiiPushEmulator
import TestSupport

@testable import KiiPushPostgres

/// Gateways of a fleet in this process, over one database, one emulator and its broker.
final class FleetStage: Sendable {
    /// How often each agent has handled each message.
    private struct Handled {
        var counts: [String: [Int64: Int]] = [:]
        var total = 0
        var subscribed: Set<String> = []
        var connected: Set<String> = []
        var principals: [String: Set<Principal>] = [:]
    }

    let emulator: Emulator
    let directory: String
    let target: String
    let fleet: Fleet
    private let handled = Monitor(Handled())
    private let topic = Topic("news")

    init(_ emulator: Emulator, _ directory: String, _ target: String) {
        (self.emulator, self.directory, self.target) = (emulator, directory, target)
        self.fleet = Fleet(.postgres(target))
    }

    static func run(_ body: (FleetStage) async throws -> Void) async throws {
        try await withEmulator { emulator, directory in
            let target = try await PostgresServer.database()
            let stage = FleetStage(emulator, directory, target)
            try await stage.fleet.migrate()
            try await body(stage)
        }
    }

    /// An agent as it is declared.
    func agent(_ name: String, account: KiiAccount = .pseudoUser) -> PushAgent.Configuration {
        var agent = PushAgent.Configuration(
            name: name, app: self.emulator.app, account: account, subscriptions: [.topic(self.topic)])
        agent.usesTLS = false
        return agent
    }

    /// Declares agents with a topic that all are subscribed to.
    func declare(_ count: Int) async throws {
        try await self.admin { try await $0.createTopic(self.topic) }
        try await self.fleet.add((1...count).map { self.agent("agent-\($0)") })
    }

    /// Sends messages to all agents.
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

    func begin(_ gateway: String, lease: Duration = .seconds(30)) throws -> RunningGateway {
        var configuration = PushRuntime.Configuration.patient(stateDirectory: "\(self.directory)/\(gateway)")
        configuration.certificateAuthorityFile = self.emulator.certificateAuthorityFile
        let runtime = try PushRuntime(
            .postgres(self.target), gateway: gateway, configuration: configuration, lease: lease)
        let events = AsyncStream.makeStream(of: FleetEvent.self)
        let receiving = Task {
            defer { events.continuation.finish() }
            try await runtime.receive { name in
                CountingHandler { number in
                    self.change { handled in
                        handled.counts[name, default: [:]][number, default: 0] += 1
                        handled.total += 1
                    }
                }
            } observer: { name, event in
                switch event {
                case .subscribed: self.change { _ = $0.subscribed.insert(name) }
                case .connected: self.change { _ = $0.connected.insert(name) }
                case .registered(let registration):
                    self.change { _ = $0.principals[name, default: []].insert(registration.principal) }
                default: break
                }
            } tell: {
                events.continuation.yield($0)
            }
        }
        return RunningGateway(runtime: runtime, events: events.stream, receiving: receiving)
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

    /// Until so many messages are done in the database.
    func waitForVerdicts(_ count: Int) async throws {
        let done = "SELECT count(*) FROM kii_push.message WHERE state = 4"
        while try await PostgresServer.run(done, at: self.target) != "\(count)\n" {}
    }

    /// How often each message of each agent was handled.
    var counts: [String: [Int64: Int]] { self.handled.withLock { $0.counts } }
    /// As how many users each agent has registered.
    var users: [Int] { self.handled.withLock { $0.principals.values.map(\.count) } }
}

/// A gateway that runs.
struct RunningGateway: Sendable {
    let runtime: PushRuntime
    let events: AsyncStream<FleetEvent>
    let receiving: Task<Void, any Error>

    @discardableResult
    func first(where isWanted: (FleetEvent) -> Bool) async -> FleetEvent? {
        for await event in self.events where isWanted(event) { return event }
        return nil
    }

    func waitForShards(_ count: Int) async {
        await self.first { if case .holding(count, _, _) = $0 { true } else { false } }
    }

    /// Ends it as SIGTERM does.
    func end() async throws {
        self.receiving.cancel()
        try await self.receiving.value
        await self.runtime.shutdown()
    }
}

private final class CountingHandler: RemoteNotificationHandler {
    private let count: @Sendable (Int64) -> Void

    init(_ count: @escaping @Sendable (Int64) -> Void) { self.count = count }

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        self.count(message.rawPayload["n"]?.int64 ?? 0)
        completion(.newData)
    }
}
#endif
