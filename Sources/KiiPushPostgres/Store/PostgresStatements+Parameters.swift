#if Postgres
import KiiPushCore

/// Statements with what they are told.
extension PostgresStatements {
    /// - Parameters:
    ///   - now: by the database's calendar.
    ///   - lead: how far that is ahead of this machine's; messages come by the latter.
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
        // One that is refused leaves when this is committed, and nothing is written about it after that.
        parameters.add(arrivals) { item in
            let arrival = item.arrival
            let isAcknowledged =
                arrival.isRefused && arrival.message.ticket != nil && arrival.link.stillCarries(arrival)
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

    static func finishing(_ updates: [RowUpdate]) -> PostgresConnection.Step {
        var parameters = PostgresParameters()
        parameters.add(updates) { $0.installation }
        parameters.add(updates) { $0.change.sequence }
        parameters.add(updates) { $0.at.millisecondsSinceEpoch }
        parameters.add(updates) { $0.change.acknowledgedAt?.millisecondsSinceEpoch }
        parameters.add(updates) { $0.change.startedAt?.millisecondsSinceEpoch }
        parameters.add(updates) { $0.change.storedAnswer }
        return (self.finish, parameters)
    }

    static func changing(_ updates: [RowUpdate], at clock: TurnClock) -> PostgresConnection.Step {
        func milliseconds(_ time: Timestamp?) -> Int64? { time?.millisecondsSinceEpoch }
        var parameters = PostgresParameters()
        parameters.add(updates) { $0.installation }
        parameters.add(updates) { $0.change.sequence }
        parameters.add(updates) { $0.change.state.rawValue }
        parameters.add(updates) { $0.change.attempts.map(Int64.init) }
        parameters.add(updates) { $0.change.crashes.map(Int64.init) }
        parameters.add(updates) { update in
            milliseconds(update.change.nextAttempt).map { $0 - clock.now.millisecondsSinceEpoch }
        }
        parameters.add(updates, text: { $0.change.reason })
        parameters.add(updates) { $0.at.millisecondsSinceEpoch }
        parameters.add(updates) { milliseconds($0.change.acknowledgedAt) }
        parameters.add(updates) { milliseconds($0.change.startedAt) }
        parameters.add(updates) { $0.change.storedAnswer }
        parameters.add(updates, text: { $0.change.openedBy })
        parameters.add(updates) { $0.change.source == .asItIs ? 0 : 1 }
        parameters.add(updates) { if case .set(let source) = $0.change.source { source } else { nil } }
        parameters.add(updates) { $0.change.onlyIn?.rawValue }
        let events = updates.map { $0.change.event?.parts }
        parameters.add(events) { $0?.code }
        parameters.add(zip(events, updates).map { $0?.attempt ?? $1.change.attempt }) { $0.map(Int64.init) }
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

    /// Removes what is old of a part of the shards.
    static func pruning(
        _ part: Int64, of gateway: PostgresSession.Gateway, _ configuration: PostgresConfiguration
    ) -> PostgresConnection.Step {
        var parameters = PostgresParameters()
        parameters.add(gateway.id)
        parameters.add(configuration.keepsDoneFor.wholeNanoseconds / 1_000_000)
        parameters.add(part)
        return (self.prune, parameters)
    }

    /// Removes refused messages beyond half of what dead letters may be.
    static func trimming(
        _ gateway: PostgresSession.Gateway, _ configuration: PostgresConfiguration
    ) -> PostgresConnection.Step {
        var parameters = PostgresParameters()
        parameters.add(gateway.id)
        parameters.add(configuration.keepsDead.rows / 2)
        parameters.add(configuration.keepsDead.bytes / 2)
        return (self.trim, parameters)
    }
}

extension PostgresParameters {
    /// Adds who writes, and up to where the database has confirmed it.
    mutating func add(_ gateway: PostgresSession.Gateway) {
        for number in [gateway.id, gateway.token, gateway.session, gateway.turn, gateway.messages] { self.add(number) }
    }
}

extension RowChange {
    fileprivate var storedAnswer: Int64? { self.answer.map { $0 == .newData ? 0 : 1 } }
}

extension Arrival {
    /// Why no handler is to see it.
    fileprivate var refusal: String? { if case .refused(let reason) = self.content { reason.description } else { nil } }
}
#endif
