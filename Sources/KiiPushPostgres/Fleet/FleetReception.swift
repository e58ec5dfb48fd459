#if Postgres
import KiiPushCore

final class FleetReception: Sendable {
    private enum Event: Sendable {
        case lease(FleetLease.Event)
        case read(Result<[FleetRow], any Error>, number: Int)
        case ended(String)
        case released([Int64], isDone: Bool)
        case removed(FleetRow, failure: (any Error)?)
        case decided(failure: (any Error)?)
    }

    private enum Work { case reading, removing, deciding }

    typealias Handlers = @Sendable (_ agent: String) -> any NotificationHandler

    let runtime: PushRuntime
    private let store: LoopIsolated<PostgresStore>
    private let gateway: String
    private let handlers: Handlers
    private let observer: @Sendable (String, PushEvent) -> Void
    private let tell: @Sendable (FleetEvent) -> Void
    private let events = AsyncStream.makeStream(of: Event.self)
    private let stops = Locked<[String: OneShot<Void>]>([:])
    private let unsaved = UnsavedStates()
    let isDeciding = Locked(false)

    /// The longest wait until the last results are written.
    private static let patience: Duration = .seconds(30)

    init(
        _ runtime: PushRuntime, _ store: LoopIsolated<PostgresStore>, gateway: String, handlers: @escaping Handlers,
        observer: @escaping @Sendable (String, PushEvent) -> Void, tell: @escaping @Sendable (FleetEvent) -> Void
    ) {
        (self.runtime, self.store, self.gateway) = (runtime, store, gateway)
        (self.handlers, self.observer, self.tell) = (handlers, observer, tell)
    }

    /// Receives until the task is cancelled or the runtime is shut down, then hands over all shards.
    func run() async throws {
        let (loop, store, report) = (self.runtime.loop, self.store, self.events.continuation)
        let lease = try await loop.run {
            store.value.whenClosed = { report.finish() }
            let lease = FleetLease(store.value, on: loop) { report.yield(.lease($0)) }
            return LoopIsolated(confining: lease, to: loop)
        }
        var end: InboxError?
        await withDiscardingTaskGroup { group in
            end = await self.follow(lease, &group)
            // The agents end gracefully while the lease is still renewed. The gateway takes no new shards.
            loop.submit { lease.value.joins = false }
            group.cancelAll()
        }
        if let end {
            loop.submit { lease.value.cancel() }
            throw PushAgentError.leaseLost(gateway: self.gateway, reason: end.advice)
        }
        let isWritten = await self.runtime.writes(within: Self.patience)
        if isWritten { try? await self.save(self.unsaved.of(0..<1024)) }
        // If the database cannot be reached, the gateway cannot give up its lease, which then ends by itself.
        try? await self.ask { _, completion in
            if isWritten { return lease.value.leave(completion: completion) }
            lease.value.cancel()
            completion(.success(()))
        }
    }

    private func follow(_ lease: LoopIsolated<FleetLease>, _ group: inout DiscardingTaskGroup) async -> InboxError? {
        var plan = FleetPlan()
        var failure: String?
        var refusals: [Work: String] = [:]
        var told: FleetEvent?
        var gateways = 0
        var isOver = false
        for await event in self.events.stream {
            var steps: [FleetPlan.Step] = []
            var mayTell = false
            switch event {
            case .lease(.renewed(let renewal)):
                if failure != nil {
                    self.tell(.databaseRecovered)
                    (failure, told) = (nil, nil)
                }
                isOver = false
                if renewal.freed > 0 { self.tell(.tookOver(shards: renewal.freed)) }
                gateways = renewal.gateways
                steps = plan.renewed(share: renewal.share, gateways: renewal.gateways, shards: renewal.shards)
                mayTell = true
                if !steps.contains(where: \.isRead) {
                    let report = self.events.continuation
                    group.addTask { report.yield(.decided(failure: await self.executeRequests(isWhole: false))) }
                }
            case .lease(.failed(let error)):
                // During the restoration of a backup the table of gateways is empty for a while. The gateway continues
                // until its lease is over.
                if error.isFinal || isOver && error.kind == .restored(missing: nil) {
                    if case .restored = error.kind { self.tell(.databaseFailed(reason: error.advice)) }
                    return error
                }
                if failure != error.description { self.tell(.databaseFailed(reason: error.description)) }
                failure = error.description
            case .lease(.over):
                self.tell(.leaseOver)
                (told, isOver) = (nil, true)
                steps = plan.suspend()
            case .read(.success(let rows), let number):
                refusals[.reading] = nil
                steps = plan.read(rows, number: number)
                mayTell = true
            case .read(.failure(let error), let number):
                self.note(error, of: .reading, &refusals)
                plan.failedToRead(number: number)
            case .ended(let name): steps = plan.ended(name)
            case .released(let shards, true): steps = plan.released(shards)
            case .released(let shards, false): plan.failedToRelease(shards)
            case .removed(let row, let failure):
                self.note(failure, of: .removing, &refusals)
                if failure == nil { self.unsaved.forget(row.name) } else { plan.failedToRemove(row) }
            case .decided(let failure): self.note(failure, of: .deciding, &refusals)
            }
            for step in steps { self.execute(step, &group) }
            let holding = FleetEvent.holding(
                shards: plan.shardCount, agents: plan.agentCount, gateways: gateways)
            if mayTell, holding != told {
                self.tell(holding)
                told = holding
            }
            let isHasty = plan.isUnsettled
            self.runtime.loop.submit { lease.value.isHasty = isHasty }
        }
        return nil
    }

    private func note(_ failure: (any Error)?, of work: Work, _ refusals: inout [Work: String]) {
        guard let failure else { return refusals[work] = nil }
        guard let error = failure as? InboxError, let state = error.sqlState, !state.hasPrefix("57P"),
            !error.isFinal, error.kind != .restored(missing: nil), error.kind != .locked
        else { return }
        let isNew = refusals.updateValue(error.description, forKey: work) != error.description
        if isNew { self.tell(.refused(reason: error.description)) }
    }

    private func execute(_ step: FleetPlan.Step, _ group: inout DiscardingTaskGroup) {
        let report = self.events.continuation
        switch step {
        case .read(let shards, let number):
            group.addTask {
                // Before agents start, because a message to be dropped may crash every gateway that handles it.
                report.yield(.decided(failure: await self.executeRequests(isWhole: true)))
                do {
                    let rows = try await self.ask { $0.agents(of: shards, completion: $1) }
                    report.yield(.read(.success(rows), number: number))
                } catch {
                    report.yield(.read(.failure(error), number: number))
                }
            }
        case .start(let row):
            let stop = OneShot<Void>()
            self.stops.withLock { $0[row.name] = stop }
            group.addTask {
                await self.receive(row, until: stop)
                self.stops.withLock { $0[row.name] = nil }
                report.yield(.ended(row.name))
            }
        case .stop(let name): _ = self.stops.withLock { $0[name]?.resume(()) }
        case .remove(let row):
            group.addTask {
                do {
                    guard await self.runtime.writes(within: Self.patience) else {
                        throw InboxError.away("removing an agent")
                    }
                    try await self.ask { $0.remove(row, completion: $1) }
                    report.yield(.removed(row, failure: nil))
                } catch {
                    report.yield(.removed(row, failure: error))
                }
            }
        case .release(let shards):
            group.addTask {
                let isWritten = await self.runtime.writes(within: Self.patience)
                let released: Void? = isWritten ? try? await self.release(shards) : nil
                report.yield(.released(shards, isDone: released != nil))
            }
        }
    }

    private func release(_ shards: [Int64]) async throws {
        try await self.save(self.unsaved.of(shards))
        try await self.ask { $0.release(Set(shards), completion: $1) }
    }

    private func save(_ states: [(row: FleetRow, text: String)]) async throws {
        for (row, text) in states {
            do {
                try await self.ask { $0.save(text, of: row, completion: $1) }
            } catch let error as InboxError where error.kind == .locked {
            }
            self.unsaved.saved(text, of: row.name)
        }
    }

    func ask<Answer: Sendable>(
        _ question: @escaping @Sendable (PostgresStore, @escaping StoreCompletion<Answer>) -> Void
    ) async throws -> Answer {
        try await self.runtime.ask { [store] _, completion in question(store.value, completion) }
    }

    // MARK: - Agents

    private func receive(_ row: FleetRow, until stop: OneShot<Void>) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await stop.value(onCancel: ()) }
            do throws(JSONMemberError) {
                let declaration = try JSONDocument(strict: Array(row.declaration.utf8))
                let configuration = try PushAgent.Configuration(declaration)
                guard configuration.name == row.name else {
                    throw declaration.failure("is another agent's", at: "name")
                }
                let agent = PushAgent(
                    runtime: self.runtime, configuration: configuration, handler: self.handlers(row.name),
                    reconnect: .init(), state: FleetAgentState(row, in: self.store, unsaved: self.unsaved))
                agent.observe { [observer] in observer(row.name, $0) }
                group.addTask { await self.run(agent, row.name) }
            } catch {
                self.tell(.agentFailed(name: row.name, reason: error.description, retryIn: nil))
            }
            await group.next()
            group.cancelAll()
        }
    }

    /// Restarts the agent after an error, so that the error does not end the other agents.
    private func run(_ agent: PushAgent, _ name: String) async {
        var pauses = Backoff(from: .seconds(1), upTo: .seconds(300))
        while !Task.isCancelled {
            let began = ContinuousClock.now
            let pause: Duration
            do {
                return try await agent.run()
            } catch {
                pause = pauses.next(after: ContinuousClock.now - began)
                self.tell(.agentFailed(name: name, reason: "\(error)", retryIn: pause))
            }
            try? await Task.sleep(for: pause)
        }
    }
}
#endif
