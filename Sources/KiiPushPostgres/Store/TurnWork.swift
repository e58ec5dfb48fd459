#if Postgres
import KiiPushCore

struct TurnWork {
    private var answers: [(change: MessageChange, work: SQLWork)] = []
    private(set) var refusals: [Int64: AnswerRefusal] = [:]
    private(set) var steps: [PostgresConnection.Step] = []
    private var owners: [Int64?] = []
    private let startedAt: MonotonicInstant

    /// After this time, a refusal of one handler's statement also postpones the other handlers' statements.
    private static let patience: Duration = .seconds(1)

    init(at now: MonotonicInstant) { self.startedAt = now }

    mutating func plan(_ changes: [MessageChange]) {
        (self.steps, self.owners) = ([], [])
        self.answers = changes.compactMap { change in
            guard case .committing(_, let work) = change.verdict, let work = work.content as? SQLWork else {
                return nil
            }
            return (change, work)
        }
        guard !self.answers.isEmpty else { return }
        var messages = PostgresParameters()
        messages.add(self.answers.map(\.change.installation))
        messages.add(self.answers.map(\.change.sequence))
        self.add((PostgresStatements.beginWork, messages))
        for (index, (change, work)) in self.answers.enumerated() {
            if index > 0 { self.add((PostgresStatements.resumeWork, .init()), of: change.sequence) }
            for statement in work.statements {
                let text = PostgresStatement("", "carrying out a handler's statement", statement.text)
                self.add((text, .init(texts: statement.values)), of: change.sequence)
            }
            // Checks deferred constraints after each answer, to find the handler that violated them.
            self.add((PostgresStatements.checkWork, .init()), of: change.sequence)
        }
        self.add((PostgresStatements.endWork, .init()))
    }

    private mutating func add(_ step: PostgresConnection.Step, of owner: Int64? = nil) {
        self.steps.append(step)
        self.owners.append(owner)
    }

    mutating func refused(_ step: Int?, _ error: InboxError, places: [Int], at now: MonotonicInstant) -> Set<Int64> {
        let all = self.answers.map(\.change.sequence)
        // A failing server would refuse any transaction, so no handler's statement caused this error.
        guard !all.isEmpty, !error.isServerError else { return [] }
        let reason = AnswerRefusal.work(
            "PostgreSQL refused a statement of the handler's (SQLSTATE \(error.sqlState ?? "unknown"))")
        guard let step, step < self.owners.count - 1 else { return self.refuse(all, reason) }
        if step == 0 {
            guard error.sqlState == PostgresStatements.notInHand else { return [] }
            return self.refuse(places.filter(all.indices.contains).map { all[$0] }, .late)
        }
        guard let owner = self.owners[step] else { return [] }
        if error.sqlState == PostgresStatements.noTime {
            return self.refuse(Array(all.drop { $0 != owner }), .postponed)
        }
        let refused = self.refuse([owner], reason)
        // After a timeout, a conflict or a second in all, postpones the other handlers' statements too: they could
        // block the gateway again.
        let isSlow = error.isContention || now > self.startedAt + Self.patience
        return isSlow ? refused.union(self.refuse(all.filter { $0 != owner }, .postponed)) : refused
    }

    mutating func drop(_ changes: some Sequence<MessageChange>) {
        for case (let sequence, .committing) in changes.lazy.map({ ($0.sequence, $0.verdict) }) {
            self.refusals[sequence] = .late
        }
    }

    private mutating func refuse(_ messages: [Int64], _ reason: AnswerRefusal) -> Set<Int64> {
        for message in messages { self.refusals[message] = reason }
        return Set(messages)
    }
}

extension InboxError {
    fileprivate var isContention: Bool { ["57014", "55P03", "40P01", "40001"].contains(self.sqlState) }

    /// - Source: "PostgreSQL Error Codes" in its manual: the classes of failures of the server.
    fileprivate var isServerError: Bool {
        guard let sqlState, sqlState != "57014" else { return false }
        return ["08", "53", "57", "58", "XX"].contains(String(sqlState.prefix(2)))
    }
}
#endif
