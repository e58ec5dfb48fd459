#if Postgres
import KiiPushCore

extension PostgresStatements {
    /// - Parameters:
    ///   - now: by the database's clock.
    ///   - lead: the database's time minus this machine's. The messages have this machine's time.
    static func inserting(
        _ arrivals: [(sequence: Int64, arrival: Arrival)], at now: Int64, lead: Int64
    ) -> PostgresConnection.Step {
        var parameters = PostgresParameters()
        parameters.add(now)
        parameters.add(arrivals) { $0.arrival.link.installation }
        parameters.add(arrivals) { $0.sequence }
        parameters.add(arrivals) { $0.arrival.rowState.rawValue }
        parameters.add(arrivals) { $0.arrival.rowBytes }
        parameters.add(arrivals) { $0.arrival.receivedAt.millisecondsSinceEpoch + lead }
        parameters.add(arrivals) { item in
            let message = item.arrival.message
            return Int64(message.qos.rawValue) | (message.duplicate ? 4 : 0) | (message.retain ? 8 : 0)
        }
        parameters.add(arrivals) { item in
            item.arrival.message.packetID.flatMap { item.arrival.link.isLatest(item.arrival) ? Int64($0) : nil }
        }
        parameters.add(arrivals) { $0.arrival.connection }
        parameters.add(arrivals) { $0.arrival.message.truncatedLength.map(Int64.init) }
        parameters.add(arrivals, text: { $0.arrival.refusal })
        parameters.add(arrivals, text: { $0.arrival.message.topic })
        parameters.add(arrivals, bytes: { $0.arrival.message.payload })
        parameters.add(arrivals) { $0.arrival.source?.number }
        parameters.add(arrivals) { item in
            let arrival = item.arrival
            let isAcknowledged =
                arrival.isRefused && arrival.message.ticket != nil && arrival.link.isCurrent(arrival)
            return isAcknowledged ? now : nil
        }
        return (self.insert, parameters)
    }

    static func recording(
        _ refusals: [(sequence: Int64, arrival: Arrival)], at now: Int64
    ) -> PostgresConnection.Step {
        var parameters = PostgresParameters()
        parameters.add(now)
        parameters.add(refusals) { $0.sequence }
        parameters.add(refusals, text: { $0.arrival.refusal })
        return (self.recordRefusals, parameters)
    }

    static func absorbing(_ repetitions: [(row: Int64, arrival: Arrival)], at now: Int64) -> PostgresConnection.Step {
        var parameters = PostgresParameters()
        parameters.add(repetitions) { $0.arrival.link.installation }
        parameters.add(repetitions) { $0.row }
        parameters.add(repetitions, text: { $0.arrival.message.topic })
        parameters.add(repetitions, bytes: { $0.arrival.message.payload })
        parameters.add(repetitions) { $0.arrival.message.truncatedLength.map(Int64.init) }
        parameters.add(now)
        return (self.absorb, parameters)
    }

    static func finishing(
        _ changes: [MessageChange], of store: PostgresStore, at clock: TurnClock
    ) -> PostgresConnection.Step {
        var parameters = PostgresParameters()
        parameters.add(changes) { $0.installation }
        parameters.add(changes) { $0.sequence }
        parameters.add(changes) { $0.time(by: clock).millisecondsSinceEpoch }
        parameters.add(changes) { store.acknowledgements.time(of: $0.sequence)?.millisecondsSinceEpoch }
        parameters.add(changes) { $0.startedAt(by: clock)?.millisecondsSinceEpoch }
        parameters.add(changes) { $0.storedAnswer }
        return (self.finish, parameters)
    }

    static func changing(
        _ changes: [MessageChange], of store: PostgresStore, at clock: TurnClock
    ) -> PostgresConnection.Step {
        let now = clock.now
        var parameters = PostgresParameters()
        parameters.add(changes) { $0.installation }
        parameters.add(changes) { $0.sequence }
        parameters.add(changes) { $0.state.rawValue }
        parameters.add(changes) { $0.keepsNumbers ? nil : Int64($0.attempts) }
        parameters.add(changes) { $0.keepsNumbers ? nil : Int64($0.crashes) }
        parameters.add(changes) { change in
            change.nextAttempt(after: now).map { $0.millisecondsSinceEpoch - now.millisecondsSinceEpoch }
        }
        parameters.add(changes, text: { $0.reason })
        parameters.add(changes) { $0.time(by: clock).millisecondsSinceEpoch }
        parameters.add(changes) { store.acknowledgements.time(of: $0.sequence)?.millisecondsSinceEpoch }
        parameters.add(changes) { $0.startedAt(by: clock)?.millisecondsSinceEpoch }
        parameters.add(changes) { $0.storedAnswer }
        parameters.add(changes, text: { $0.openedBy?.stored })
        parameters.add(changes) { $0.source == nil ? 0 : 1 }
        parameters.add(changes) { $0.source ?? nil }
        parameters.add(changes) { $0.onlyIn?.rawValue }
        let events = changes.map { $0.event?.parts }
        parameters.add(events) { $0?.code }
        parameters.add(zip(events, changes).map { $0?.attempt ?? $1.attempt?.number }) { $0.map(Int64.init) }
        parameters.add(events) { $0?.pause.map { $0.wholeNanoseconds / 1_000_000 } }
        parameters.add(events, text: { $0?.detail })
        return (self.change, parameters)
    }

    static func proving(_ proofs: [Int64: Int64], by gateway: PostgresSession.Gateway) -> PostgresConnection.Step {
        let proofs = Array(proofs)
        var parameters = PostgresParameters()
        parameters.add(proofs) { $0.key }
        parameters.add(proofs) { $0.value }
        parameters.add(gateway.id)
        return (self.prove, parameters)
    }

    static func pruning(
        _ part: Int64, of gateway: PostgresSession.Gateway, _ configuration: PostgresConfiguration
    ) -> PostgresConnection.Step {
        (self.prune, .init(gateway.id, configuration.keepsDoneFor.wholeNanoseconds / 1_000_000, part))
    }

    /// Removes the oldest of the dead letters that were refused at arrival (such as oversized messages), if these dead
    /// letters together use more than half of the limit.
    static func trimming(
        _ gateway: PostgresSession.Gateway, _ configuration: PostgresConfiguration
    ) -> PostgresConnection.Step {
        let most = configuration.keepsDead.half
        return (self.trim, .init(gateway.id, most.rows, most.bytes))
    }
}

extension PostgresParameters {
    mutating func add(_ gateway: PostgresSession.Gateway) {
        for number in [gateway.id, gateway.token, gateway.session, gateway.turn, gateway.messages] { self.add(number) }
    }
}

extension MessageChange {
    fileprivate var storedAnswer: Int64? { self.answer.map { $0 == .newData ? 0 : 1 } }
}

extension Arrival {
    fileprivate var refusal: String? { if case .refused(let reason) = self.content { reason.description } else { nil } }
}
#endif
