#if Postgres
import KiiPushCore

struct PostgresTurn {
    private(set) var turn: Turn
    /// By installation, the number of a row: no later message counts as a redelivery of rows up to this number.
    let proofs: [Int64: Int64]
    let pruned: Int64?
    let trims: Bool
    let completion: StoreCompletion<TurnOutcome>
    private var work: TurnWork
    private var stepCount = 0
    private(set) var block: Int64?
    private(set) var hasMoreToPrune = false
    /// The expected result of each arrival. If a redelivery differs from its row, the database rolls the turn back.
    private var plan: [StoredArrival] = []
    private var newOnes: Set<Int> = []
    private var finished: [MessageChange] = []
    /// Each element becomes one statement. A statement cannot change a row twice, so an element has at most one change
    /// of each message.
    private var rounds: [[MessageChange]] = []
    private var claims = PostgresClaims([])
    private var takesNumbers = false

    init(
        _ turn: Turn, proofs: [Int64: Int64], pruning part: Int64?, trims: Bool, at now: MonotonicInstant,
        isKnown: (Int64) -> Bool, completion: @escaping StoreCompletion<TurnOutcome>
    ) {
        (self.turn, self.proofs, self.pruned, self.trims) = (turn, proofs, part, trims)
        self.completion = completion
        self.work = TurnWork(at: now)
        self.drop(of: { !isKnown($0) })
    }

    /// Recounts dead letters after a removal, and about once a minute, since other processes may change the number.
    private var countsDead: Bool { self.trims || self.pruned == 0 }

    var refuses: Bool { self.turn.arrivals.contains(where: \.isRefused) }

    var arrivalCount: Int { self.turn.arrivals.count }
    var additionCount: Int { self.additions.count }

    private var repetitions: [(row: Int64, arrival: Arrival)] {
        zip(self.plan, self.turn.arrivals).compactMap { stored, arrival in
            if case .redelivered(let row, _, _) = stored { (row, arrival) } else { nil }
        }
    }

    private var additions: [(sequence: Int64, arrival: Arrival)] {
        zip(self.plan, self.turn.arrivals).compactMap { stored, arrival in
            if case .new(let sequence) = stored { (sequence, arrival) } else { nil }
        }
    }

    // MARK: - Statements

    mutating func steps(
        as number: Int64, of store: PostgresStore, _ numbers: inout MessageNumbers
    ) -> [PostgresConnection.Step] {
        if !self.plan.isEmpty { for arrival in self.turn.arrivals { arrival.link.forgetAbsorptions() } }
        self.makePlan(&numbers)
        let clock = TurnClock(store.clocks)
        let now = clock.now.millisecondsSinceEpoch
        let (additions, repetitions) = (self.additions, self.repetitions)
        let written =
            self.turn.changes.map(\.installation) + self.turn.arrivals.map(\.link.installation)
            + self.turn.claims.filter(\.takesInHand).map(\.installation)
        var steps = [
            store.beginning(
                installations: Array(Set(written)), messages: self.arrivalCount,
                repetitions: repetitions.count, number: number)
        ]
        self.work.plan(self.turn.changes)
        steps += self.work.steps
        self.planChanges()
        if !self.finished.isEmpty {
            steps.append(PostgresStatements.finishing(self.finished, of: store, at: clock))
        }
        for round in self.rounds { steps.append(PostgresStatements.changing(round, of: store, at: clock)) }
        if !additions.isEmpty { steps.append(PostgresStatements.inserting(additions, at: now, lead: store.clock.lead)) }
        let refusals = additions.filter(\.arrival.isRefused)
        if !refusals.isEmpty { steps.append(PostgresStatements.recording(refusals, at: now)) }
        if !repetitions.isEmpty { steps.append(PostgresStatements.absorbing(repetitions, at: now)) }
        self.claims = PostgresClaims(self.turn.claims)
        steps += self.claims.steps(turn: number, store.configuration.longestDelay)
        if !self.proofs.isEmpty { steps.append(PostgresStatements.proving(self.proofs, by: store.gateway)) }
        if let pruned { steps.append(PostgresStatements.pruning(pruned, of: store.gateway, store.configuration)) }
        if self.trims { steps.append(PostgresStatements.trimming(store.gateway, store.configuration)) }
        if self.countsDead { steps.append((PostgresStatements.dead, .init())) }
        self.takesNumbers = numbers.isLow
        if self.takesNumbers { steps.append((PostgresStatements.takeNumbers, .init())) }
        self.stepCount = steps.count
        return steps
    }

    private mutating func makePlan(_ numbers: inout MessageNumbers) {
        self.plan.removeAll(keepingCapacity: true)
        for (place, arrival) in self.turn.arrivals.enumerated() {
            if !self.newOnes.contains(place), let row = arrival.link.redeliveryCandidate(of: arrival) {
                arrival.link.absorbs(row)
                self.plan.append(.redelivered(row, isFinal: true, isInHand: false))
            } else if let sequence = numbers.next() {
                if arrival.message.qos == .exactlyOnce { arrival.link.inserted(sequence, arrival) }
                self.plan.append(.new(sequence))
            }
        }
    }

    mutating func reject(repetitions places: [Int]) {
        let repetitions = self.plan.indices.filter { if case .redelivered = self.plan[$0] { true } else { false } }
        for place in places where repetitions.indices.contains(place) { self.newOnes.insert(repetitions[place]) }
    }

    mutating func dropChanges(of installations: Set<Int64>) -> Bool {
        let count = self.turn.changes.count
        self.drop(of: installations.contains)
        return self.turn.changes.count < count
    }

    private mutating func drop(of isOther: (Int64) -> Bool) {
        self.work.drop(self.turn.changes.filter { isOther($0.installation) })
        self.turn.changes.removeAll { isOther($0.installation) }
    }

    mutating func dropWork(_ step: Int, _ error: InboxError, places: [Int], at now: MonotonicInstant) -> Bool {
        let place: Int? = step < self.stepCount ? step - 1 : nil
        guard place.map({ self.work.steps.indices.contains($0) }) ?? true else { return false }
        let dropped = self.work.refused(place, error, places: places, at: now)
        self.turn.changes.removeAll { change in
            if case .committing = change.verdict { dropped.contains(change.sequence) } else { false }
        }
        return !dropped.isEmpty
    }

    private mutating func planChanges() {
        (self.finished, self.rounds) = ([], [])
        var counts: [Int64: Int] = [:]
        for change in self.turn.changes {
            let round = counts[change.sequence, default: 0]
            counts[change.sequence] = round + 1
            if round == 0, change.isCommonEnd {
                self.finished.append(change)
            } else {
                while self.rounds.count <= round { self.rounds.append([]) }
                self.rounds[round].append(change)
            }
        }
        self.rounds.removeAll(where: \.isEmpty)
    }

    // MARK: - Answers

    mutating func outcome(_ answers: [PostgresRows], of store: PostgresStore) -> TurnOutcome {
        var outcome = TurnOutcome()
        outcome.refusals = self.work.refusals
        var rest = answers[(1 + self.work.steps.count)...]
        if !self.finished.isEmpty, let rows = rest.popFirst() {
            for row in 0..<rows.count {
                store.count(rows.integer(row, 1), of: rows.integer(row, 0), from: .inHand, to: .done)
            }
        }
        for _ in self.rounds { if let rows = rest.popFirst() { self.count(rows, of: store, into: &outcome) } }
        let (additions, repetitions) = (self.additions, self.repetitions)
        if !additions.isEmpty { rest.removeFirst() }
        for (_, arrival) in additions { store.count(arrival) }
        if additions.contains(where: \.arrival.isRefused) { rest.removeFirst() }
        outcome.arrivals = self.plan
        if !repetitions.isEmpty, let rows = rest.popFirst() { self.place(rows, of: store, into: &outcome) }
        outcome.answers = self.claims.answers(&rest)
        if !self.proofs.isEmpty { rest.removeFirst() }
        if self.pruned != nil, let rows = rest.popFirst() {
            self.hasMoreToPrune = rows.integer(0, 0) >= PostgresStatements.prunedAtOnce
        }
        if self.trims, let rows = rest.popFirst() {
            outcome.removedDeadLetters = Int(rows.integer(0, 0))
        }
        if self.countsDead, let rows = rest.popFirst() {
            store.dead = InboxCounts.Tally(rows: rows.integer(0, 0), bytes: rows.integer(0, 1))
        }
        if self.takesNumbers { self.block = rest.popFirst()?.integer(0, 0) }
        return outcome
    }

    func outcomeWithoutAnswers() -> TurnOutcome {
        var outcome = TurnOutcome()
        outcome.arrivals = self.plan
        outcome.refusals = self.work.refusals
        outcome.answers = self.turn.claims.map { _ in
            var answer = StoreAnswer()
            answer.isComplete = false
            answer.failure = InboxError.away("reading messages").description
            return answer
        }
        outcome.isMoved = true
        return outcome
    }

    var takesInHand: Bool { self.turn.claims.contains(where: \.takesInHand) }

    private func count(_ rows: PostgresRows, of store: PostgresStore, into outcome: inout TurnOutcome) {
        for row in 0..<rows.count {
            let (installation, sequence) = (rows.integer(row, 0), rows.integer(row, 1))
            guard let former = RowState(rawValue: rows.integer(row, 2)),
                let state = RowState(rawValue: rows.integer(row, 3))
            else { continue }
            store.count(rows.integer(row, 4), of: installation, from: former, to: state)
            // A user or another program made this message wait again.
            guard rows.integer(row, 6) != 0, state == .waiting else { continue }
            outcome.appeared.append(
                .init(sequence: sequence, installation: installation, source: rows.optionalInteger(row, 5)))
        }
    }

    private func place(_ rows: PostgresRows, of store: PostgresStore, into outcome: inout TurnOutcome) {
        var row = 0
        for (place, stored) in self.plan.enumerated() {
            guard case .redelivered(let sequence, let isFinal, _) = stored, row < rows.count else { continue }
            let isInHand = rows.integer(row, 0) == RowState.inHand.rawValue
            outcome.arrivals[place] = .redelivered(sequence, isFinal: isFinal, isInHand: isInHand)
            row += 1
        }
    }
}

extension Arrival {
    var isRefused: Bool { if case .refused = self.content { true } else { false } }

    var rowState: RowState { self.isRefused ? .dead : self.isInHand ? .inHand : .waiting }
    var rowBytes: Int64 {
        InboxCounts.bytes(topic: self.message.topic.utf8.count, payload: self.message.payload.count)
    }
}
#endif
