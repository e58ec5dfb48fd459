final class InboxStatements {
    let begin, commit, rollback, insert, take, update, finish, requeue, absorb, standing, delete: SQLiteStatement
    let addEvent, events, eventNumbers, deleteEvents, ofSource, ofNoSource, nextSource, firstSource: SQLiteStatement
    let record, row, bytes, page, sequences, deadLetters, refusedTally, oldestRefused, cut: SQLiteStatement
    let dueRetries, retriesTooFarAhead, nextRetry, moveRetries: SQLiteStatement
    let addInstallation, restoreInstallation, findInstallation, place, installations: SQLiteStatement
    let own, adopt, adopted, sameOwner, openCount, openCounts: SQLiteStatement
    let prove, unproven, allUnproven, openBytes, scan, done, freePages, vacuum, vacuumStep: SQLiteStatement
    let inspect, indexedRows, lostInstallations, installationsByIndex: SQLiteStatement
    let notices, addNotice, removeNotices, dataVersion: SQLiteStatement
    private let readingLedger, writingLedger: SQLiteStatement

    init(_ connection: SQLiteConnection) {
        func make(_ sql: String, _ step: String) -> SQLiteStatement { SQLiteStatement(connection, sql, step: step) }
        let columns = StoredMessage.columns.joined(separator: ", ")
        func rows(_ condition: String, _ step: String) -> SQLiteStatement {
            make("SELECT \(columns) FROM message WHERE \(condition)", step)
        }
        // Clamped: a damaged page may hold any number, and SQLite's sum() fails if it overflows.
        let bytes = "min(max(bytes, \(InboxCounts.rowBytes.lowerBound)), \(InboxCounts.rowBytes.upperBound))"
        self.begin = make("BEGIN IMMEDIATE", "beginning a transaction")
        self.commit = make("COMMIT", "committing")
        self.rollback = make("ROLLBACK", "rolling back")
        self.insert = make(
            """
            INSERT INTO message (sequence, installation, state, bytes, updated_ms, received_ms, qos, duplicate, retain,
                packet_id, connection, original_length, reason, topic, payload, stored_after, source, events,
                acknowledged_after)
            VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15 - ?5, ?16, ?17, ?18 - ?5)
            """, "storing a message")
        self.take = make(
            """
            UPDATE message SET state = 1, next_attempt_ms = NULL, updated_ms = ?2,
                acknowledged_after = coalesce(acknowledged_after, ?3 - received_ms)
            WHERE sequence = ?1
            """, "taking a message in hand")
        self.update = make(
            """
            UPDATE message SET state = ?2, attempts = coalesce(?3, attempts), crashes = coalesce(?4, crashes),
                next_attempt_ms = ?5, reason = CASE ?2 WHEN 4 THEN NULL ELSE coalesce(?6, reason) END, updated_ms = ?7,
                acknowledged_after = coalesce(acknowledged_after, ?8 - received_ms),
                started_after = ?9 - received_ms, answer = ?10, events = ?11, opened = coalesce(?12, opened),
                source = CASE ?13 WHEN 0 THEN source ELSE ?14 END
            WHERE sequence = ?1
            """, "recording a verdict")
        self.finish = make(
            """
            UPDATE message SET state = 4, next_attempt_ms = NULL, reason = NULL, updated_ms = ?2,
                acknowledged_after = coalesce(acknowledged_after, ?3 - received_ms),
                started_after = ?4 - received_ms, answer = ?5
            WHERE sequence = ?1 AND state = 1 AND bytes = ?6
            """, "recording a verdict")
        self.requeue = make(
            """
            UPDATE message SET state = 0, attempts = CASE state WHEN 2 THEN attempts ELSE 0 END,
                crashes = CASE state WHEN 2 THEN crashes ELSE 0 END, next_attempt_ms = NULL,
                reason = CASE state WHEN 2 THEN reason END, updated_ms = ?2, started_after = NULL, answer = NULL,
                source = coalesce(?4, source), events = ?3
            WHERE sequence = ?1
            """, "making a message wait")
        self.absorb = make("UPDATE message SET events = ?2 WHERE sequence = ?1", "recording a redelivery")
        // OR REPLACE: if a row's number of events is damaged, the new event's number may already exist.
        self.addEvent = make(
            """
            INSERT OR REPLACE INTO event (message, number, at_ms, kind, attempt, started_ms, pause_ms, detail)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            """, "recording an event")
        self.events = make(
            """
            SELECT number, at_ms, kind, attempt, started_ms, pause_ms, detail FROM event
            WHERE message = ?1 ORDER BY number LIMIT \(InboxSchema.eventLimit)
            """, "reading events")
        self.eventNumbers = make("SELECT message, number FROM event ORDER BY message, number", "looking at every event")
        self.deleteEvents = make("DELETE FROM event WHERE message = ?1", "removing events")
        // No handler sees dead letters with these reasons.
        let isRefused = ["undecodable", "unexpectedTopic", "oversized"].map { "reason GLOB '\($0)*'" }
            .joined(separator: " OR ")
        self.standing = make(
            """
            SELECT state, bytes, events, CASE state WHEN 5 THEN \(isRefused) ELSE 0 END, source
            FROM message WHERE sequence = ?1
            """, "reading a state")
        self.refusedTally = make(
            "SELECT count(*), coalesce(sum(\(bytes)), 0) FROM message WHERE state = 5 AND (\(isRefused))",
            "adding up dead letters")
        self.oldestRefused = make(
            "SELECT sequence FROM message WHERE state = 5 AND sequence > ?1 AND (\(isRefused)) ORDER BY sequence LIMIT ?2",
            "looking for old dead letters")
        self.cut = make(
            """
            UPDATE message SET payload = ?2, original_length = ?3, bytes = ?4, reason = coalesce(reason, '') || ?5
            WHERE sequence = ?1
            """, "cutting a dead letter")
        self.delete = make("DELETE FROM message WHERE sequence = ?1", "removing a message")
        self.record = make(
            """
            SELECT \(columns), stored_after, acknowledged_after, started_after, answer, events,
                (SELECT id FROM installation WHERE key = message.installation)
            FROM message WHERE sequence = ?1
            """, "reading a message's record")
        self.row = rows("sequence = ?1", "reading a message")
        self.bytes = make(
            "SELECT topic, original_length, payload FROM message WHERE sequence = ?1", "comparing a message")
        // `state < 4` repeats the condition of the partial index, which SQLite would otherwise not use. Without
        // likely(), SQLite searches by `state < 4` and sorts the whole backlog. Without the `+`, SQLite compiles the
        // statement anew for each new state.
        self.page = rows(
            "installation = ?1 AND likely(state < 4) AND state = +?2 AND sequence > ?3 ORDER BY sequence LIMIT ?4",
            "reading messages")
        self.ofSource = rows(
            "installation = ?1 AND state = 0 AND source = ?2 AND sequence < ?3 ORDER BY sequence LIMIT ?4",
            "reading messages of a source")
        self.ofNoSource = rows(
            "installation = ?1 AND state = 0 AND source IS NULL AND sequence > ?2 ORDER BY sequence LIMIT ?3",
            "reading messages of no source")
        self.nextSource = make(
            "SELECT min(source) FROM message WHERE installation = ?1 AND state = 0 AND source > ?2",
            "looking for sources")
        self.firstSource = make(
            "SELECT min(source) FROM message WHERE installation = ?1 AND state = 0 AND source IS NOT NULL",
            "looking for sources")
        // A damaged state may be a blob that spells a number. SQLite's shift would convert the blob.
        self.sequences = make(
            """
            SELECT sequence FROM message
            WHERE sequence > ?1 AND typeof(state) = 'integer' AND (1 << state) & ?2 ORDER BY sequence LIMIT ?3
            """, "reading messages")
        // With a parameter instead of 5, SQLite does not use the partial index.
        self.deadLetters = rows("state = 5 AND sequence > ?1 ORDER BY sequence LIMIT ?2", "reading dead letters")
        self.dueRetries = rows(
            "installation = ?1 AND state = 2 AND next_attempt_ms <= ?2 ORDER BY next_attempt_ms, sequence LIMIT ?3",
            "reading due retries")
        self.retriesTooFarAhead = rows(
            "installation = ?1 AND state = 2 AND next_attempt_ms > ?2 ORDER BY next_attempt_ms, sequence LIMIT ?3",
            "reading due retries")
        self.nextRetry = make(
            "SELECT min(next_attempt_ms) FROM message WHERE installation = ?1 AND state = 2", "reading the next retry")
        self.moveRetries = make(
            "UPDATE message SET next_attempt_ms = next_attempt_ms + ?1 WHERE state = 2", "moving retries")
        self.addInstallation = make(
            "INSERT INTO installation (id) VALUES (?1) ON CONFLICT (id) DO NOTHING", "adding an installation")
        self.restoreInstallation = make(
            "INSERT INTO installation (key, id, proven_sequence) VALUES (?1, ?2, ?3)", "taking an installation over")
        self.findInstallation = make("SELECT key FROM installation WHERE id = ?1", "finding an installation")
        self.place = make(
            "SELECT id, adopter, site, app, principal FROM installation WHERE key = ?1", "finding an installation")
        self.own = make(
            """
            UPDATE installation SET site = ?2, app = ?3, principal = ?4, adopter = NULL WHERE key = ?1
                AND (site IS NOT ?2 OR app IS NOT ?3 OR principal IS NOT ?4 OR adopter IS NOT NULL)
            """, "recording whose an installation is")
        self.adopt = make(
            "UPDATE installation SET adopter = ?2 WHERE (key = ?1 OR adopter = ?1) AND key <> ?2",
            "recording who handles messages")
        self.adopted = make("SELECT key, id FROM installation WHERE adopter = ?1", "reading former installations")
        self.sameOwner = make(
            """
            SELECT other.key FROM installation AS mine JOIN installation AS other
                ON other.principal = mine.principal AND other.app = mine.app AND other.site = mine.site
            WHERE mine.key = ?1 AND other.key <> ?1 AND other.adopter IS NOT ?1
            """, "looking for former installations")
        self.openCount = make(
            "SELECT count(*) FROM message WHERE installation = ?1 AND state < 4", "counting what waits")
        self.openCounts = make(
            """
            SELECT installation, count(*), min(sequence), max(sequence) FROM message WHERE state < 4
            GROUP BY installation
            """, "counting what waits")
        self.prove = make(
            "UPDATE installation SET proven_sequence = ?2 WHERE key = ?1", "recording proven acknowledgements")
        self.unproven = make(
            """
            SELECT sequence, packet_id FROM message
            WHERE sequence > coalesce(?1, (SELECT proven_sequence FROM installation WHERE key = ?2), 0)
                AND installation = ?2 AND packet_id IS NOT NULL ORDER BY sequence
            """, "reading unproven rows")
        // CROSS fixes the order of the loops: one pass over the messages for any number of installations.
        self.allUnproven = make(
            """
            SELECT installation, sequence, packet_id FROM message CROSS JOIN installation ON key = installation
            WHERE sequence > proven_sequence AND packet_id IS NOT NULL ORDER BY sequence
            """, "reading unproven rows")
        self.installations = make("SELECT key FROM installation NOT INDEXED", "reading the installations")
        self.openBytes = make(
            "SELECT coalesce(sum(\(bytes)), 0) FROM message WHERE installation = ?1 AND state < 4 AND state <> 3",
            "adding up what waits")
        self.scan = make(
            "SELECT sequence, state, updated_ms, bytes FROM message WHERE sequence > ?1 ORDER BY sequence LIMIT ?2",
            "looking for old rows")
        self.done = make(
            """
            SELECT sequence, bytes FROM message WHERE sequence > ?1 AND state = 4 AND (?2 = 0 OR packet_id IS NULL
                OR sequence <= (SELECT proven_sequence FROM installation WHERE key = message.installation))
            ORDER BY sequence LIMIT ?3
            """, "looking for done rows")
        // Looks up each open or dead row through its index, as deliveries do. A damaged index may hold every entry and
        // still not find some.
        func isFound(_ index: String, _ condition: String) -> String {
            """
            EXISTS (SELECT 1 FROM message INDEXED BY message_\(index)
                WHERE installation = m.installation AND sequence = m.sequence AND \(condition))
            """
        }
        // NOT INDEXED: reads the table itself, not the copies of its columns in an index.
        self.inspect = make(
            """
            SELECT sequence, state, bytes, installation, CASE
                WHEN state = 0 THEN \(isFound("waiting", "source IS m.source AND state = 0"))
                WHEN state = 2 THEN \(isFound("retry", "next_attempt_ms IS m.next_attempt_ms AND state = 2"))
                WHEN state = 5 THEN \(isFound("dead", "state = 5"))
                ELSE 1
                END AND (state >= 4 OR \(isFound("open", "state = m.state AND state < 4")))
            FROM message AS m NOT INDEXED ORDER BY sequence
            """, "looking at every message")
        func count(_ index: String, _ condition: String) -> String {
            "(SELECT count(*) FROM message INDEXED BY message_\(index) WHERE \(condition))"
        }
        self.indexedRows = make(
            """
            SELECT \(count("waiting", "state = 0")), \(count("retry", "state = 2")), \(count("dead", "state = 5")),
                \(count("open", "state < 4"))
            """, "counting the entries of the indexes")
        self.lostInstallations = make(
            """
            SELECT count(*) FROM installation AS i NOT INDEXED WHERE NOT EXISTS (SELECT 1 FROM installation
                INDEXED BY sqlite_autoindex_installation_1 WHERE id = i.id AND key = i.key)
            """, "looking for every installation")
        // sum(1): for count(*), SQLite would use the smallest index.
        self.installationsByIndex = make(
            """
            SELECT (SELECT sum(1) FROM installation INDEXED BY sqlite_autoindex_installation_1),
                (SELECT sum(1) FROM installation INDEXED BY installation_owner)
            """, "counting installations")
        self.notices = make("SELECT path, reason, taken_over, lost FROM notice ORDER BY rowid", "reading notices")
        self.addNotice = make(
            "INSERT INTO notice (path, reason, taken_over, lost) VALUES (?1, ?2, ?3, ?4)", "adding a notice")
        self.removeNotices = make("DELETE FROM notice", "removing notices")
        self.freePages = make("PRAGMA freelist_count", "counting free pages")
        self.vacuum = make("PRAGMA incremental_vacuum(64)", "giving pages back")
        self.vacuumStep = make("PRAGMA incremental_vacuum(8)", "giving pages back")
        self.dataVersion = make("PRAGMA data_version", "looking for changes of others")
        self.readingLedger = make("SELECT * FROM ledger WHERE id = 1", "reading the counts")
        self.writingLedger = make(
            """
            UPDATE ledger SET last_sequence = ?1, rows0 = ?2, rows1 = ?3, rows2 = ?4, rows3 = ?5, rows4 = ?6,
                rows5 = ?7, bytes0 = ?8, bytes1 = ?9, bytes2 = ?10, bytes3 = ?11, bytes4 = ?12, bytes5 = ?13,
                received = ?14, duplicates = ?15, pruned = ?16, expired = ?17, lost = ?18, dropped = ?19
            WHERE id = 1
            """, "writing the counts")
    }

    func readLedger() throws(InboxError) -> InboxLedger {
        let ledger = try self.readingLedger.first { row -> InboxLedger? in
            var ledger = InboxLedger(
                lastSequence: row.integer(1), received: row.integer(14), duplicates: row.integer(15),
                pruned: row.integer(16), expired: row.integer(17), lost: row.integer(18), dropped: row.integer(19))
            for state in RowState.allCases {
                let column = Int32(state.rawValue)
                ledger.counts[state] = .init(rows: row.integer(2 + column), bytes: row.integer(8 + column))
            }
            return ledger.isPlausible ? ledger : nil
        }
        guard let ledger else { throw InboxError(.corrupt, step: "reading the counts") }
        return ledger
    }

    func writeLedger(_ ledger: InboxLedger) throws(InboxError) {
        let statement = self.writingLedger
        try statement.bind(1, ledger.lastSequence)
        for state in RowState.allCases {
            let column = Int32(state.rawValue)
            try statement.bind(2 + column, ledger.counts[state].rows)
            try statement.bind(8 + column, ledger.counts[state].bytes)
        }
        try statement.bind(
            from: 14, [ledger.received, ledger.duplicates, ledger.pruned, ledger.expired, ledger.lost, ledger.dropped])
        try statement.run()
    }
}
