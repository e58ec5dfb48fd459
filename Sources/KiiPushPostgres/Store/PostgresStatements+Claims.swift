#if Postgres
import KiiPushCore

extension PostgresStatements {
    /// The columns of a row, in the order in which ``StoredRow`` is read.
    static let columns = """
        message.sequence, message.installation, message.state, message.attempts, message.crashes, \
        message.next_attempt_ms, message.updated_ms, message.received_ms, message.qos, message.duplicate, \
        message.retain, message.packet_id, message.connection, message.original_length, message.reason, \
        message.topic, message.payload, message.opened, message.source
        """
    static let columnCount = 19

    /// The parameters 1 to 4: the installation, the most that the rows may weigh together, and the two numbers of the
    /// scale. A first row comes whatever it weighs. Behind the columns stands how many rows there were to choose from.
    private static func page(_ conditions: String, by order: String) -> String {
        """
        WITH page AS (
            SELECT sequence, bytes, row_number() OVER (ORDER BY \(order)) AS place FROM (\(conditions)) AS candidate
            ORDER BY \(order) LIMIT $2::bigint
        ), fitting AS (
            SELECT sequence, place FROM (
                SELECT sequence, place, sum(
                    CASE WHEN bytes - \(InboxCounts.rowOverhead) < $3::bigint THEN 1
                        ELSE least(1 + (bytes - \(InboxCounts.rowOverhead)) / $3::bigint, $4::bigint) END
                ) OVER (ORDER BY place) AS weight FROM page) AS weighed
            WHERE weight <= $2::bigint OR place = 1
        )
        """
    }

    private static func candidates(_ condition: String, by order: String = "sequence") -> String {
        """
        SELECT sequence, bytes, next_attempt_ms FROM kii_push.message
        WHERE installation = $1::bigint AND \(condition) ORDER BY \(order) LIMIT $2::bigint
        """
    }

    /// The parameter 5 is what the condition compares with.
    private static func read(
        _ name: String, _ step: String, _ condition: String, by order: String = "sequence"
    ) -> PostgresStatement {
        PostgresStatement(
            name, step,
            """
            \(self.page(self.candidates(condition, by: order), by: "sequence"))
            SELECT \(self.columns), (SELECT count(*) FROM page)
            FROM fitting JOIN kii_push.message
                ON message.installation = $1::bigint AND message.sequence = fitting.sequence
            ORDER BY fitting.place
            """)
    }

    /// The parameters 5 and 6 are the number of the turn and the gateway's time.
    private static func take(
        _ name: String, _ step: String, _ candidates: String, by order: String = "sequence"
    ) -> PostgresStatement {
        PostgresStatement(
            name, step,
            """
            \(self.page(candidates, by: order)), taken AS (
                UPDATE kii_push.message SET state = 1, turn = $5::bigint, updated_ms = $6::bigint,
                    next_attempt_ms = NULL
                FROM fitting WHERE message.installation = $1::bigint AND message.sequence = fitting.sequence
                RETURNING fitting.place, \(self.columns)
            )
            SELECT \(self.columns.replacing("message.", with: "taken.")), (SELECT count(*) FROM page)
            FROM taken ORDER BY place
            """)
    }

    /// By the source as well, or the index would not give them in order.
    static let unsettled = read(
        "unsettled", "reading messages of no source", "state = 0 AND source IS NULL AND sequence > $5::bigint",
        by: "source, sequence")
    static let paused = read("paused", "reading retries", "state = 2 AND sequence > $5::bigint")
    static let suspects = read("suspects", "reading what was in hand", "state = 1 AND sequence > $5::bigint")
    static let ofSource = take(
        "of_source", "taking messages of a source",
        candidates("state = 0 AND source = $7::bigint AND sequence < $8::bigint"))
    static let row = take("row", "taking a message", candidates("state = 0 AND sequence = $7::bigint"))
    /// One that is put off for longer than any may be is due, too: the database's clock was set back.
    static let retries = take(
        "retries", "taking due retries",
        """
        (\(candidates("state = 2 AND next_attempt_ms <= kii_push.now_ms()", by: "next_attempt_ms, sequence")))
        UNION ALL
        (\(candidates(
            "state = 2 AND next_attempt_ms > kii_push.now_ms() + $7::bigint", by: "next_attempt_ms, sequence")))
        """, by: "next_attempt_ms, sequence")
    static let nextRetry = PostgresStatement(
        "next_retry", "reading the next retry",
        """
        SELECT min(next_attempt_ms) - kii_push.now_ms() FROM kii_push.message
        WHERE installation = $1::bigint AND state = 2
        """)
    /// Each is looked up by itself: the rows in between are not read.
    static let sources = PostgresStatement(
        "sources", "looking for sources",
        """
        WITH RECURSIVE found (number) AS (
            (SELECT source FROM kii_push.message
            WHERE installation = $1::bigint AND state = 0 AND source >= $2::bigint ORDER BY source LIMIT 1)
            UNION ALL
            SELECT (SELECT source FROM kii_push.message
                WHERE installation = $1::bigint AND state = 0 AND source > found.number ORDER BY source LIMIT 1)
            FROM found WHERE found.number IS NOT NULL
        )
        SELECT number FROM found WHERE number IS NOT NULL LIMIT $3::bigint
        """)

    static let claims = [unsettled, paused, suspects, ofSource, row, retries, nextRetry, sources]
}
#endif
