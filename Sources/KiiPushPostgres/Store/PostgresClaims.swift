#if Postgres
import KiiPushCore

struct PostgresClaims {
    private let claims: [StoreClaim]
    private var groups: [(statement: PostgresStatement, places: [Int])] = []

    init(_ claims: [StoreClaim]) {
        self.claims = claims
        for (place, claim) in claims.enumerated() {
            let index = claim.isOfRow ? nil : self.groups.firstIndex { $0.statement == claim.statement }
            if let index {
                self.groups[index].places.append(place)
            } else {
                self.groups.append((claim.statement, [place]))
            }
        }
    }

    // MARK: - Statements

    func steps(turn: Int64, _ longestDelay: Duration) -> [PostgresConnection.Step] {
        self.groups.flatMap { group in
            let claims = group.places.map { self.claims[$0] }
            var parameters = PostgresParameters()
            parameters.add(claims) { $0.installation }
            parameters.add(claims) { Int64($0.limit) }
            parameters.add(claims) { $0.argument(longestDelay) }
            if group.statement == PostgresStatements.sources { return [(group.statement, parameters)] }
            parameters.add(claims) { if case .source(_, let before?) = $0.kind { before } else { .max } }
            parameters.add(Int64(claims[0].scale.step))
            parameters.add(Int64(claims[0].scale.heaviest))
            if claims[0].takesInHand { parameters.add(turn) }
            guard group.statement == PostgresStatements.retries else { return [(group.statement, parameters)] }
            var next = PostgresParameters()
            next.add(claims) { $0.installation }
            return [(group.statement, parameters), (PostgresStatements.nextRetry, next)]
        }
    }

    // MARK: - Answers

    func answers(_ rest: inout ArraySlice<PostgresRows>) -> [StoreAnswer] {
        var answers = [StoreAnswer](repeating: StoreAnswer(), count: self.claims.count)
        for group in self.groups {
            guard let rows = rest.popFirst() else { break }
            if group.statement == PostgresStatements.sources {
                self.read(rows, sourcesOf: group.places, into: &answers)
            } else {
                self.read(rows, messagesOf: group.places, into: &answers)
            }
            guard group.statement == PostgresStatements.retries, let next = rest.popFirst() else { continue }
            for row in 0..<next.count {
                let place = group.places[Int(next.integer(row, 0)) - 1]
                answers[place].nextRetry = .milliseconds(max(0, next.integer(row, 1)))
            }
        }
        return answers
    }

    private func read(_ rows: PostgresRows, sourcesOf places: [Int], into answers: inout [StoreAnswer]) {
        for row in 0..<rows.count {
            answers[places[Int(rows.integer(row, 1)) - 1]].sources.append(rows.integer(row, 0))
        }
        for place in places { answers[place].isComplete = answers[place].sources.count < self.claims[place].limit }
    }

    private func read(_ rows: PostgresRows, messagesOf places: [Int], into answers: inout [StoreAnswer]) {
        let (number, isFollowed, place) = (
            PostgresStatements.columnCount, PostgresStatements.columnCount + 1, PostgresStatements.columnCount + 2
        )
        var rowsOfPlaces = [[Int]](repeating: [], count: places.count)
        for row in 0..<rows.count { rowsOfPlaces[Int(rows.integer(row, place)) - 1].append(row) }
        for (place, unsorted) in zip(places, rowsOfPlaces) {
            let sorted = unsorted.sorted { rows.integer($0, number) < rows.integer($1, number) }
            answers[place].messages = sorted.compactMap { StoredMessage(rows, $0) }
            answers[place].isComplete =
                sorted.count < self.claims[place].limit
                && sorted.last.map { rows.integer($0, isFollowed) == 0 } ?? true
        }
    }
}

extension StoreClaim {
    fileprivate var isOfRow: Bool { if case .row = self.kind { true } else { false } }

    fileprivate var statement: PostgresStatement {
        switch self.kind {
        case .unsettled: PostgresStatements.unsettled
        case .paused: PostgresStatements.paused
        case .suspects: PostgresStatements.suspects
        case .sources: PostgresStatements.sources
        case .source: PostgresStatements.ofSource
        case .row: PostgresStatements.row
        case .retries: PostgresStatements.retries
        }
    }

    fileprivate func argument(_ longestDelay: Duration) -> Int64 {
        switch self.kind {
        case .unsettled(let sequence), .paused(let sequence), .suspects(let sequence), .row(let sequence): sequence
        case .source(let source, _): source
        case .retries: longestDelay.wholeNanoseconds / 1_000_000
        case .sources(let after): after.map { $0 == .max ? $0 : $0 + 1 } ?? .min
        }
    }
}

extension StoredMessage {
    init?(_ rows: PostgresRows, _ row: Int) {
        guard let state = RowState(rawValue: rows.integer(row, 2)) else { return nil }
        func time(_ column: Int) -> Timestamp { Timestamp(millisecondsSinceEpoch: rows.integer(row, column)) }
        self.init(
            sequence: rows.integer(row, 0), installation: rows.integer(row, 1), topic: rows.text(row, 15) ?? "",
            payload: rows.blob(row, 16), originalLength: rows.optionalInteger(row, 13).map(Int.init),
            qos: UInt8(clamping: rows.integer(row, 8)), duplicate: rows.integer(row, 9) != 0,
            retain: rows.integer(row, 10) != 0,
            packetID: rows.optionalInteger(row, 11).flatMap { UInt16(exactly: $0) },
            connection: rows.integer(row, 12), receivedAt: time(7), state: state, reason: rows.text(row, 14),
            attempts: Int(rows.integer(row, 3)), crashes: Int(rows.integer(row, 4)),
            nextAttempt: rows.isNull(row, 5) ? nil : time(5), updatedAt: time(6),
            openedBy: rows.text(row, 17).map(UserAction.init(stored:)), source: rows.optionalInteger(row, 18))
    }
}
#endif
