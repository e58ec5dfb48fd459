#if Postgres
import KiiPushCore

extension StoreClaim {
    /// What is asked for it, in a turn of this number.
    func steps(turn: Int64, at now: Int64, _ longestDelay: Duration) -> [PostgresConnection.Step] {
        var parameters = PostgresParameters()
        parameters.add(self.installation)
        if case .sources(let after) = self.kind {
            // No source has a number behind the last.
            parameters.add(after.map { $0 == .max ? $0 : $0 + 1 } ?? .min)
            parameters.add(Int64(self.limit))
            return [(PostgresStatements.sources, parameters)]
        }
        parameters.add(Int64(self.limit))
        parameters.add(Int64(self.scale.step))
        parameters.add(Int64(self.scale.heaviest))
        if self.takesInHand {
            parameters.add(turn)
            parameters.add(now)
        }
        switch self.kind {
        case .unsettled(let sequence):
            parameters.add(sequence)
            return [(PostgresStatements.unsettled, parameters)]
        case .paused(let sequence):
            parameters.add(sequence)
            return [(PostgresStatements.paused, parameters)]
        case .suspects(let sequence):
            parameters.add(sequence)
            return [(PostgresStatements.suspects, parameters)]
        case .source(let source, let before):
            parameters.add(source)
            parameters.add(before ?? .max)
            return [(PostgresStatements.ofSource, parameters)]
        case .row(let sequence):
            parameters.add(sequence)
            return [(PostgresStatements.row, parameters)]
        case .retries:
            parameters.add(longestDelay.wholeNanoseconds / 1_000_000)
            var next = PostgresParameters()
            next.add(self.installation)
            return [(PostgresStatements.retries, parameters), (PostgresStatements.nextRetry, next)]
        case .sources: return []
        }
    }

    /// Takes its answers from the front of the turn's.
    func answer(_ answers: inout ArraySlice<PostgresRows>, of store: PostgresStore) -> StoreAnswer {
        var answer = StoreAnswer()
        guard let rows = answers.popFirst() else { return answer }
        if case .sources = self.kind {
            answer.sources = (0..<rows.count).map { rows.integer($0, 0) }
            answer.isComplete = rows.count < self.limit
            return answer
        }
        answer.messages = (0..<rows.count).compactMap { StoredRow(rows, $0).map { StoredMessage($0) } }
        let found = rows.count == 0 ? 0 : Int(rows.integer(0, PostgresStatements.columnCount))
        answer.isComplete = rows.count == found && found < self.limit
        if self.takesInHand {
            let former: RowState = if case .retries = self.kind { .retry } else { .waiting }
            for message in answer.messages {
                let bytes = InboxCounts.bytes(topic: message.topic.utf8.count, payload: message.payload.count)
                store.count(bytes, of: self.installation, from: former, to: .inHand)
            }
        }
        if case .retries = self.kind, let next = answers.popFirst() {
            answer.nextRetry = next.optionalInteger(0, 0).map { .milliseconds(max(0, $0)) }
        }
        return answer
    }
}

extension StoredRow {
    /// Reads ``PostgresStatements/columns``; `nil` for a state that there is not.
    init?(_ rows: PostgresRows, _ row: Int) {
        guard let state = RowState(rawValue: rows.integer(row, 2)) else { return nil }
        func time(_ column: Int) -> Timestamp { Timestamp(millisecondsSinceEpoch: rows.integer(row, column)) }
        self.init(
            sequence: rows.integer(row, 0),
            message: NewRow(
                installation: rows.integer(row, 1), topic: rows.text(row, 15) ?? "", payload: rows.blob(row, 16),
                originalLength: rows.optionalInteger(row, 13).map(Int.init), qos: UInt8(clamping: rows.integer(row, 8)),
                duplicate: rows.integer(row, 9) != 0, retain: rows.integer(row, 10) != 0,
                packetID: rows.optionalInteger(row, 11).flatMap { UInt16(exactly: $0) },
                connection: rows.integer(row, 12), receivedAt: time(7), state: state, reason: rows.text(row, 14),
                source: rows.optionalInteger(row, 18)),
            attempts: Int(rows.integer(row, 3)), crashes: Int(rows.integer(row, 4)),
            nextAttempt: rows.isNull(row, 5) ? nil : time(5), updatedAt: time(6), openedBy: rows.text(row, 17))
    }
}
#endif
