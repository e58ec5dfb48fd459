#if Postgres
package import KiiPushCore

/// Reads the messages of a fleet with a single database. With several databases message numbers would not be unique.
extension Fleet {
    package func ledger() async throws -> MessageLedger {
        try await self.queryingOneDatabase { connection throws(InboxError) in
            MessageLedger(
                try connection.rows(PostgresStatements.ledger.sql, step: PostgresStatements.ledger.step))
        }
    }

    /// Calls `body` for all messages in these states, in the order of their numbers, without their events. A million
    /// handled messages take some seconds.
    ///
    /// - Parameters:
    ///   - newest: the most messages to include: the ones with the highest numbers. Default: all.
    ///   - body: called on another thread. An error of `body` ends the listing and is rethrown.
    package func forEachMessage(
        _ standings: Set<MessageRecord.Standing>, newest: Int? = nil,
        _ body: @escaping @Sendable (MessageRecord) throws -> Void
    ) async throws {
        guard !standings.isEmpty else { return }
        let messages = standings.flatMap(Self.messages).joined(separator: " UNION ALL ")
        let limit = newest.map { "ORDER BY sequence DESC LIMIT \($0)" } ?? ""
        let failure = Locked<(any Error)?>(nil)
        try await self.queryingOneDatabase { connection throws(InboxError) in
            let step = "reading messages"
            // Limits idle transactions: PostgreSQL cannot vacuum dead rows while the reader of this list pauses.
            try connection.execute("BEGIN; SET LOCAL idle_in_transaction_session_timeout = '5min'", step: step)
            try connection.execute(
                """
                DECLARE page NO SCROLL CURSOR FOR
                SELECT \(PostgresStatements.columns(state: "standing")),
                    (SELECT id FROM kii_push.installation WHERE key = message.installation)
                FROM (SELECT * FROM (\(messages)) AS message \(limit)) AS message ORDER BY sequence
                """, step: step)
            while true {
                let rows = try connection.rows("FETCH 500 FROM page", step: step)
                for row in 0..<rows.count {
                    guard let stored = StoredMessage(rows, row) else { continue }
                    let id = rows.text(row, PostgresStatements.columnCount)
                    do {
                        try body(MessageRecord(stored, installationID: id))
                    } catch {
                        return failure.withLock { $0 = error }
                    }
                }
                guard rows.count > 0 else { return }
            }
        }
        if let error = failure.withLock({ $0 }) { throw error }
    }

    /// Returns one message with its events.
    ///
    /// - Throws: ``InboxAccessError``: `neverReceived`, `removed`; as ``check()``.
    package func trace(of messageID: Int64) async throws -> MessageRecord {
        let found = try await self.queryingOneDatabase { connection throws(InboxError) in
            let last = try connection.rows(
                "SELECT CASE WHEN is_called THEN last_value + 65535 ELSE 0 END FROM kii_push.message_block",
                step: "reading the last number")
            return (last: last.integer(0, 0), record: try MessageRecord(messageID, in: connection))
        }
        if let record = found.record { return record }
        // Gateways do not use all reserved numbers. An unused number below the last therefore counts as removed.
        if messageID > found.last { throw InboxAccessError.neverReceived(messageID: messageID, last: found.last) }
        throw InboxAccessError.removed(messageID: messageID)
    }

    private static func messages(_ standing: MessageRecord.Standing) -> [String] {
        func messages(_ state: RowState, besides others: String = "") -> String {
            "SELECT *, \(state.rawValue) AS standing FROM kii_push.message WHERE state = \(state.rawValue) \(others)"
        }
        let notInHand = """
            AND NOT EXISTS (SELECT FROM kii_push.installation CROSS JOIN unnest(in_hand) AS taken (number)
                WHERE taken.number = message.sequence)
            """
        return switch standing {
        case .waiting: [messages(.waiting, besides: notInHand)]
        case .running:
            [
                messages(.inHand),
                """
                SELECT message.*, \(RowState.inHand.rawValue) FROM kii_push.installation
                    CROSS JOIN unnest(in_hand) AS taken (number)
                    JOIN kii_push.message ON message.installation = key AND sequence = taken.number
                """,
            ]
        case .retry: [messages(.retry, besides: notInHand)]
        case .presented: [messages(.presented)]
        case .done: [messages(.done)]
        case .dead: [messages(.dead)]
        }
    }

    func queryingOneDatabase<Value: Sendable>(
        _ body: @escaping @Sendable (BlockingPostgres) throws(InboxError) -> Value
    ) async throws -> Value {
        guard let target = self.store.targets.first, self.store.isOne else {
            throw PushAgentError.invalidConfiguration(
                setting: "store",
                reason: "names \(self.store.targets.count) databases, and messages are looked at in one")
        }
        return try await self.asking(target, body)
    }
}

extension MessageRecord {
    fileprivate init?(_ messageID: Int64, in connection: BlockingPostgres) throws(InboxError) {
        // One snapshot, so that the row and its events match.
        try connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ", step: "looking for a message")
        let rows = try connection.rows(
            """
            SELECT \(PostgresStatements.columns(state: PostgresStatements.standing)), installation.id,
                stored_after, acknowledged_after, started_after, answer, events
            FROM kii_push.installation JOIN kii_push.message
                ON message.installation = installation.key AND message.sequence = $1::bigint
            """, ["\(messageID)"], step: "looking for a message")
        guard rows.count > 0, let row = StoredMessage(rows, 0) else { return nil }
        let first = PostgresStatements.columnCount
        let found = try connection.rows(
            """
            SELECT kind, at_ms, attempt, started_ms, pause_ms, detail FROM kii_push.event
            WHERE message = $1::bigint ORDER BY number
            """, ["\(messageID)"], step: "reading what happened to a message")
        var events: [RecordedEvent] = []
        for index in 0..<found.count {
            let attempt = found.optionalInteger(index, 2).map { Int($0) }
            let pause = found.optionalInteger(index, 4).map { Duration.milliseconds($0) }
            let parts = MessageEvent.Kind.Parts(
                found.integer(index, 0), attempt: attempt, pause: pause, detail: found.text(index, 5))
            guard let kind = MessageEvent.Kind(parts) else { continue }
            let startedAt = found.optionalInteger(index, 3).map { Timestamp(millisecondsSinceEpoch: $0) }
            events.append((kind, attempt, Timestamp(millisecondsSinceEpoch: found.integer(index, 1)), startedAt))
        }
        self.init(
            row, installationID: rows.text(0, first), storedAfter: rows.optionalInteger(0, first + 1),
            acknowledgedAfter: rows.optionalInteger(0, first + 2), startedAfter: rows.optionalInteger(0, first + 3),
            answer: rows.optionalInteger(0, first + 4), events: events,
            isWhole: rows.integer(0, first + 5) == Int64(events.count))
    }
}
#endif
