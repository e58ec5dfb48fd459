import Foundation
import TestSupport
import Testing

@testable import KiiPushCore
@testable import KiiPushPostgres

enum StoreKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case memory, file, postgres

    var testDescription: String { self.rawValue }
    var isDurable: Bool { self != .memory }

    static let all: [StoreKind] = {
        #if Postgres
        StoreKind.allCases
        #else
        [.memory, .file]
        #endif
    }()
    static let durable = StoreKind.all.filter(\.isDurable)
}

/// One process after another may open a store in this place.
struct StorePlace: Sendable {
    let kind: StoreKind
    /// The path of a file, or the address of a database.
    let address: String

    func open(
        keepsDone: Duration? = nil, keepsDead: Int64? = nil, clocks: Clocks = .machine
    ) async throws -> TestStore {
        let loop = try EventLoop()
        return TestStore(
            loop, try await self.makeStore(on: loop, keepsDone: keepsDone, keepsDead: keepsDead, clocks: clocks))
    }

    func makeStore(
        on loop: EventLoop, keepsDone: Duration? = nil, keepsDead: Int64? = nil, clocks: Clocks = .machine
    ) async throws -> LoopIsolated<any Store> {
        switch self.kind {
        case .memory: return try await loop.run { LoopIsolated(confining: MemoryStore(), to: loop) }
        case .file:
            return try await loop.run {
                var configuration = Inbox.Configuration()
                configuration.clocks = clocks
                if let keepsDone { configuration.keepsDoneFor = keepsDone }
                if let keepsDead { configuration.keepsDead.rows = keepsDead }
                let store = try FileStore(
                    path: self.address, configuration: configuration, longestDelay: .seconds(1800))
                return LoopIsolated(confining: store, to: loop)
            }
        case .postgres:
            #if Postgres
            var configuration = PostgresConfiguration(target: self.address, gateway: "gateway")
            // The next process may take the name at once.
            configuration.lease = .zero
            configuration.clocks = clocks
            if let keepsDone { configuration.keepsDoneFor = keepsDone }
            if let keepsDead { configuration.keepsDead.rows = keepsDead }
            let session = try await onThread { [configuration] in try PostgresSession(configuration) }
            let store = try await loop.run { [configuration] in
                LoopIsolated(confining: try PostgresStore(session, configuration, on: loop), to: loop)
            }
            let renewal = OneShot<Result<FleetRenewal, InboxError>>()
            try await loop.run { store.value.renew { renewal.resume($0) } }
            _ = try await renewal.value().get()
            return try await loop.run { LoopIsolated(confining: store.value, to: loop) }
            #else
            throw TestFailure("this build has no PostgreSQL")
            #endif
        }
    }
}

func withStorePlace(_ kind: StoreKind, _ body: (StorePlace) async throws -> Void) async throws {
    try await withTemporaryDirectory { directory in
        switch kind {
        case .memory: try await body(StorePlace(kind: kind, address: ""))
        case .file: try await body(StorePlace(kind: kind, address: directory + "/inbox.db"))
        case .postgres:
            let target = try await PostgresServer.database()
            #if Postgres
            try await onThread { try PostgresSchema.make(target) }
            #endif
            try await body(StorePlace(kind: kind, address: target))
        }
    }
}

final class TestStore: Sendable {
    let loop: EventLoop
    private let store: LoopIsolated<any Store>

    init(_ loop: EventLoop, _ store: LoopIsolated<any Store>) { (self.loop, self.store) = (loop, store) }

    deinit { self.loop.shutdown() }

    func end() async throws {
        try await self.loop.run { [store] in store.value.close() }
        self.loop.shutdown()
    }

    func read<Value: Sendable>(_ body: @escaping @Sendable (any Store) throws -> Value) async throws -> Value {
        try await self.loop.run { [store] in try body(store.value) }
    }

    func ask<Answer: Sendable>(
        _ body: @escaping @Sendable (any Store, @escaping StoreCompletion<Answer>) -> Void
    ) async throws -> Answer {
        let answer = OneShot<Result<Answer, InboxError>>()
        try await self.loop.run { [store] in body(store.value) { answer.resume($0) } }
        return try await answer.value().get()
    }

    @discardableResult
    func commit(_ make: @escaping @Sendable () -> Turn) async throws -> TurnOutcome {
        try await self.ask { store, completion in store.commit(make(), completion: completion) }
    }

    @discardableResult
    func change(_ changes: MessageChange...) async throws -> TurnOutcome {
        try await self.commit { Turn(changes: changes) }
    }

    func installation(_ id: String, of owner: InboxOwner? = nil, agent: String = "agent") async throws -> Int64 {
        try await self.ask { $0.installation(id: id, of: owner, agent: agent, completion: $1) }
    }

    func unproven(_ installation: Int64) async throws -> [Int64] {
        let rows: [UnprovenRow] = try await self.ask { $0.unproven(installation: installation, completion: $1) }
        return rows.map(\.sequence)
    }

    func answer(_ kind: StoreClaim.Kind, of installation: Int64, limit: Int = 100) async throws -> StoreAnswer {
        let claim = StoreClaim(installation: installation, kind: kind, limit: limit)
        return try await self.commit { Turn(claims: [claim]) }.answers.first ?? StoreAnswer()
    }

    func ledger() async throws -> MessageLedger { try await self.ask { $0.ledger(completion: $1) } }

    func standing(_ sequence: Int64) async throws -> RowState? {
        let message: StoredMessage? = try await self.ask { $0.message(sequence, completion: $1) }
        return message?.state
    }

    @discardableResult
    func receive(_ messages: TestMessage...) async throws -> [Int64] {
        let outcome = try await self.commit { Turn(arrivals: messages.map(\.arrival)) }
        return outcome.arrivals.compactMap { if case .new(let sequence) = $0 { sequence } else { nil } }
    }
}

struct TestMessage: Sendable {
    var link: TestLink
    var source = "a"
    var topic: String?
    var payload: [UInt8]?
    var duplicate = false
    var truncatedLength: Int?
    var isInHand = true
    var packetID: UInt16 = 5
    var receivedAt: Timestamp?

    init(_ link: TestLink) { self.link = link }

    func with(_ change: (inout TestMessage) -> Void) -> TestMessage {
        var message = self
        change(&message)
        return message
    }

    var arrival: Arrival {
        let message = MQTTSession.InboundMessage(
            topic: self.topic ?? self.link.topic, payload: self.payload ?? [UInt8](TestPipeline.push(self.source).utf8),
            qos: .atLeastOnce, duplicate: self.duplicate, packetID: self.packetID, ticket: 1,
            truncatedLength: self.truncatedLength)
        var arrival = Arrival(link: self.link, message: message, connection: 100, receivedAt: self.receivedAt ?? .now())
        arrival.isInHand = self.isInHand
        return arrival
    }

    static func source(_ name: String = "a") -> Int64 { StoredMessage.push(0, source: name).source ?? 0 }
}

extension MessageChange {
    static func change(
        _ sequence: Int64, of installation: Int64, _ verdict: Verdict, attempts: Int = 0, crashes: Int = 0
    ) -> MessageChange {
        MessageChange(
            sequence: sequence, installation: installation, verdict: verdict, attempts: attempts, crashes: crashes)
    }
}
