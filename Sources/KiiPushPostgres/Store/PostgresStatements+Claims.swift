#if Postgres
import KiiPushCore

/// Statements that read messages for handlers. Their first parameters are arrays with an element for each claim.
extension PostgresStatements {
    static func columns(state: String = "message.state") -> String {
        StoredMessage.columns.map { $0 == "state" ? "\(state) AS state" : "message.\($0)" }.joined(separator: ", ")
    }
    static let columnCount = StoredMessage.columns.count

    private static let hand = """
        JOIN kii_push.installation ON installation.key = wanted.installation
        CROSS JOIN LATERAL (SELECT in_hand || '{}' AS numbers OFFSET 0) AS hand
        """
    private static let isNotInHand = "numbers[width_bucket(sequence, numbers)] IS DISTINCT FROM sequence"

    private static func candidates(_ condition: String, by rank: String = "sequence") -> String {
        """
        SELECT message.*, \(rank) AS rank FROM kii_push.message
        WHERE message.installation = wanted.installation AND \(condition) ORDER BY rank, sequence LIMIT wanted.most
        """
    }

    private static func open(_ condition: String, by rank: String = "sequence") -> String {
        self.candidates("\(condition) AND \(self.isNotInHand)", by: rank)
    }

    /// The rows for each claim. The first row comes whatever its size. The last columns are the row's number within its
    /// claim, whether another row follows, and the number of the claim, from 1.
    private static func rows(_ candidates: String) -> String {
        """
        SELECT found.*, wanted.place
        FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) WITH ORDINALITY
            AS wanted (installation, most, argument, before, place) \(self.hand) CROSS JOIN LATERAL (
            SELECT \(self.columns()), number, is_followed FROM (
                SELECT *, sum(weight) OVER ranked AS total, row_number() OVER ranked AS number,
                    (lead(sequence) OVER ranked IS NOT NULL)::integer AS is_followed
                FROM (
                    SELECT *, (CASE WHEN bytes - \(InboxCounts.rowOverhead) < $5::bigint THEN 1
                        ELSE least(1 + (bytes - \(InboxCounts.rowOverhead)) / $5::bigint, $6::bigint) END)::integer
                        AS weight
                    FROM (\(candidates)) AS candidate) AS weighed
                WINDOW ranked AS (ORDER BY rank, sequence ROWS UNBOUNDED PRECEDING)) AS message
            WHERE total <= wanted.most OR number = 1) AS found
        """
    }

    private static func read(_ name: String, _ step: String, _ candidates: String) -> PostgresStatement {
        PostgresStatement(name, step, self.rows(candidates))
    }

    private static func take(_ name: String, _ step: String, _ candidates: String) -> PostgresStatement {
        PostgresStatement(
            name, step,
            """
            WITH fitting AS (\(self.rows(candidates))), noted AS (
                UPDATE kii_push.installation SET taken_in = $7::bigint,
                    in_hand = ARRAY(SELECT unnest(in_hand || added.sequences) ORDER BY 1),
                    taken = CASE taken_in WHEN $7::bigint THEN taken || added.sequences ELSE added.sequences END
                FROM (SELECT installation, array_agg(sequence) AS sequences FROM fitting GROUP BY installation) AS added
                WHERE installation.key = added.installation
            )
            SELECT * FROM fitting
            """)
    }

    /// Also ordered by the source, which is NULL here, so that PostgreSQL reads the rows in the order of an index.
    static let unsettled = read(
        "unsettled", "reading messages of no source",
        open("state = 0 AND source IS NULL AND sequence > wanted.argument", by: "source"))
    static let paused = read("paused", "reading retries", open("state = 2 AND sequence > wanted.argument"))
    static let suspects = read(
        "suspects", "reading what was in hand",
        """
        SELECT * FROM (
            (\(candidates("state = 1 AND sequence > wanted.argument")))
            UNION ALL
            (SELECT message.*, taken.number AS rank
            FROM (SELECT number FROM unnest(numbers) AS taken (number) WHERE number > wanted.argument ORDER BY number)
                AS taken JOIN kii_push.message
                ON message.installation = wanted.installation AND message.sequence = taken.number
            WHERE message.state IN (0, 2) ORDER BY taken.number LIMIT wanted.most)
        ) AS suspect ORDER BY rank LIMIT wanted.most
        """)
    static let ofSource = take(
        "of_source", "taking messages of a source",
        open("state = 0 AND source = wanted.argument AND sequence < wanted.before"))
    static let row = take("row", "taking a message", open("state = 0 AND sequence = wanted.argument"))
    /// A retry is also due if its pause exceeds the longest allowed pause. The database's clock was then set back.
    static let retries = take(
        "retries", "taking due retries",
        """
        SELECT * FROM (
            (\(open("state = 2 AND next_attempt_ms <= kii_push.now_ms()", by: "next_attempt_ms")))
            UNION ALL
            (\(open("state = 2 AND next_attempt_ms > kii_push.now_ms() + wanted.argument", by: "next_attempt_ms")))
        ) AS due ORDER BY rank, sequence LIMIT wanted.most
        """)
    static let nextRetry = PostgresStatement(
        "next_retry", "reading the next retry",
        """
        SELECT wanted.place, next.next_attempt_ms - kii_push.now_ms() FROM unnest($1::bigint[]) WITH ORDINALITY
            AS wanted (installation, place) \(hand) CROSS JOIN LATERAL (
                SELECT next_attempt_ms FROM kii_push.message
                WHERE message.installation = wanted.installation AND state = 2 AND \(isNotInHand)
                ORDER BY next_attempt_ms LIMIT 1) AS next
        """)
    /// Finds each source by a separate search, so that PostgreSQL does not read all rows of every source.
    static let sources = PostgresStatement(
        "sources", "looking for sources",
        """
        SELECT found.number, wanted.place FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) WITH ORDINALITY
            AS wanted (installation, most, argument, place)
            CROSS JOIN LATERAL (
                WITH RECURSIVE found (number) AS (
                    (SELECT source FROM kii_push.message WHERE installation = wanted.installation AND state = 0
                        AND source >= wanted.argument ORDER BY source LIMIT 1)
                    UNION ALL
                    SELECT (SELECT source FROM kii_push.message WHERE installation = wanted.installation AND state = 0
                        AND source > found.number ORDER BY source LIMIT 1)
                    FROM found WHERE found.number IS NOT NULL
                )
                SELECT number FROM found WHERE number IS NOT NULL LIMIT wanted.most) AS found
        ORDER BY wanted.place, found.number
        """)

    static let claims = [unsettled, paused, suspects, ofSource, row, retries, nextRetry, sources]
}
#endif
