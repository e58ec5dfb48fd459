#if Postgres
import KiiPushCore

/// The statements of a turn. A condition such as `state = 5` repeats the condition of a partial index, so that
/// PostgreSQL uses the index.
enum PostgresStatements {
    static let beginTurn = PostgresStatement(
        "begin_turn", "beginning a turn",
        """
        SELECT FROM kii_push.begin_turn($1::bigint::integer, $2::bigint, $3::bigint, $4::bigint, $5::bigint, $6::bigint,
            $7::bigint[], $8::bigint, $9::bigint)
        """)
    static let beginWork = PostgresStatement(
        "begin_work", "beginning with handlers' statements",
        "SELECT FROM kii_push.begin_work($1::bigint[], $2::bigint[])")
    static let checkWork = PostgresStatement(
        "check_work", "looking at constraints that were put off", "SET CONSTRAINTS ALL IMMEDIATE")
    static let resumeWork = PostgresStatement(
        "go_on_with_work", "going on with handlers' statements", "SELECT FROM kii_push.go_on_with_work()")
    static let endWork = PostgresStatement(
        "end_work", "ending handlers' statements", "SELECT FROM kii_push.end_work()")
    static let takeNumbers = PostgresStatement(
        "numbers", "taking numbers for messages", "SELECT nextval('kii_push.message_block')")
    static let absorb = PostgresStatement(
        "absorb", "recording a redelivery",
        """
        SELECT CASE WHEN absorbed.sequence = ANY (in_hand) THEN 1 ELSE state END
        FROM ROWS FROM (
            kii_push.absorb($1::bigint[], $2::bigint[], $3::text[], $4::bytea[], $5::bigint[], $6::bigint),
            unnest($1::bigint[]), unnest($2::bigint[])
        ) WITH ORDINALITY AS absorbed (state, installation, sequence, place)
            JOIN kii_push.installation ON key = absorbed.installation
        ORDER BY place
        """)

    static let insert = PostgresStatement(
        "insert", "storing messages",
        """
        INSERT INTO kii_push.message (installation, sequence, state, bytes, updated_ms, received_ms, qos,
            duplicate, retain, packet_id, connection, original_length, reason, topic, payload, stored_after, source,
            events, acknowledged_after)
        SELECT installation, sequence, state::smallint, bytes, received, received, (flags & 3)::smallint,
            flags & 4 <> 0, flags & 8 <> 0, packet_id::integer, connection, original_length, reason, topic, payload,
            $1::bigint - received, source, CASE state WHEN 5 THEN 1 ELSE 0 END, acknowledged - received
        FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
            $9::bigint[], $10::bigint[], $11::text[], $12::text[], $13::bytea[], $14::bigint[], $15::bigint[])
            AS arrival (installation, sequence, state, bytes, received, flags, packet_id, connection, original_length,
                reason, topic, payload, source, acknowledged)
        """)
    static let recordRefusals = PostgresStatement(
        "record_refusals", "recording dead letters",
        """
        INSERT INTO kii_push.event (message, number, at_ms, kind, detail)
        SELECT message, 1, $1::bigint, \(MessageEvent.Kind.dead(.other(""), attempt: nil).parts.code), detail
        FROM unnest($2::bigint[], $3::text[]) AS refusal (message, detail)
        """)

    static func release(_ sequences: String) -> String {
        """
        UPDATE kii_push.installation
        SET in_hand = ARRAY(SELECT unnest(in_hand) EXCEPT SELECT unnest(ended.sequences) ORDER BY 1)
        FROM (\(sequences)) AS ended (installation, sequences)
        WHERE installation.key = ended.installation AND in_hand <> '{}'
        """
    }

    static let finish = PostgresStatement(
        "finish", "recording that messages are done",
        """
        WITH done AS (
            UPDATE kii_push.message SET state = 4, next_attempt_ms = NULL, reason = NULL,
                updated_ms = \(updatedWhenDone),
                acknowledged_after = coalesce(message.acknowledged_after, wanted.acknowledged - message.received_ms),
                started_after = wanted.started - message.received_ms, answer = wanted.answer
            FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
                AS wanted (installation, sequence, updated, acknowledged, started, answer)
            WHERE message.installation = wanted.installation AND message.sequence = wanted.sequence
                -- What was decided about it meanwhile stays.
                AND message.state BETWEEN 0 AND 2
            RETURNING message.installation, message.sequence, message.bytes
        ), ended AS (
            SELECT installation, array_agg(sequence) AS sequences, sum(bytes)::bigint AS bytes
            FROM done GROUP BY installation
        ), let_go AS (\(release("SELECT installation, sequences FROM ended")))
        SELECT installation, bytes FROM ended
        """)
    /// The later time of the gateway's and the database's clocks. A slow clock alone would make the message look too
    /// old.
    private static let updatedWhenDone = "greatest(wanted.updated, kii_push.now_ms())"

    /// If the user opens a message whose handler is running, the message stays with the handler.
    static let change = PostgresStatement(
        "change", "recording verdicts",
        """
        WITH former AS (
            SELECT wanted.*, message.state AS former_state, wanted.opened IS NOT NULL
                AND (message.state = 1 OR message.sequence = ANY (installation.in_hand)) AS stays
            FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[],
                $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::text[], $13::bigint[], $14::bigint[],
                $15::bigint[], $16::bigint[], $17::bigint[], $18::bigint[], $19::text[])
                AS wanted (installation, sequence, state, attempts, crashes, pause, reason, updated, acknowledged,
                    started, answer, opened, moves, source, only_in, kind, attempt, event_pause, detail)
                JOIN kii_push.installation ON installation.key = wanted.installation
                JOIN kii_push.message
                    ON message.installation = wanted.installation AND message.sequence = wanted.sequence
        ), changed AS (
            UPDATE kii_push.message SET
                state = CASE WHEN stays THEN message.state ELSE wanted.state END::smallint,
                attempts = CASE WHEN stays THEN message.attempts ELSE coalesce(wanted.attempts, message.attempts) END,
                crashes = CASE WHEN stays THEN message.crashes ELSE coalesce(wanted.crashes, message.crashes) END,
                next_attempt_ms = CASE WHEN stays THEN message.next_attempt_ms
                    ELSE kii_push.now_ms() + wanted.pause END,
                reason = CASE wanted.state WHEN 4 THEN NULL ELSE coalesce(wanted.reason, message.reason) END,
                updated_ms = CASE wanted.state WHEN 4 THEN \(updatedWhenDone) ELSE wanted.updated END,
                acknowledged_after = coalesce(message.acknowledged_after, wanted.acknowledged - message.received_ms),
                started_after = CASE wanted.state WHEN 4 THEN wanted.started - message.received_ms END,
                answer = wanted.answer,
                events = CASE WHEN wanted.kind IS NULL THEN message.events ELSE least(message.events + 1, 257) END,
                opened = coalesce(wanted.opened, message.opened),
                source = CASE wanted.moves WHEN 0 THEN message.source ELSE wanted.source END
            FROM former AS wanted
            WHERE message.installation = wanted.installation AND message.sequence = wanted.sequence
                AND message.state = coalesce(wanted.only_in, message.state)
            RETURNING wanted.*, CASE WHEN stays THEN 1 ELSE message.state END AS now_state, message.bytes,
                message.source AS now_source, message.events
        ), let_go AS (\(release("""
            SELECT installation, array_agg(sequence) FROM changed WHERE NOT stays GROUP BY installation
            """))
        ), recorded AS (
            INSERT INTO kii_push.event (message, number, at_ms, kind, attempt, started_ms, pause_ms, detail)
            SELECT sequence, events, updated, kind, attempt, started, event_pause, detail FROM changed
            WHERE kind IS NOT NULL AND events <= 256
        )
        SELECT installation, sequence, former_state, now_state, bytes, now_source,
            (opened IS NOT NULL OR only_in IS NOT NULL)::integer FROM changed
        """)

    static let prove = PostgresStatement(
        "prove", "recording proven acknowledgements",
        """
        UPDATE kii_push.installation SET proven_sequence = proven.sequence
        FROM unnest($1::bigint[], $2::bigint[]) AS proven (key, sequence) WHERE installation.key = proven.key
            AND installation.shard IN (SELECT id FROM kii_push.shard WHERE gateway = $3::bigint::integer)
        """)
    static let prunedAtOnce = 2000
    static let pruningParts: Int64 = 6
    static let prune = PostgresStatement(
        "prune", "removing old rows",
        """
        SELECT kii_push.prune($1::bigint::integer, $2::bigint, \(pruningParts), $3::bigint::integer, \(prunedAtOnce))
        """)
    static let trim = PostgresStatement(
        "trim", "removing dead letters",
        """
        WITH refused AS (
            SELECT installation, sequence, row_number() OVER newest AS place, sum(bytes) OVER newest AS total
            FROM kii_push.message WHERE state = 5 AND reason ~ '^(undecodable|unexpectedTopic|oversized)'
            WINDOW newest AS (ORDER BY sequence DESC)
        ), gone AS (
            DELETE FROM kii_push.message USING refused
            WHERE message.installation = refused.installation AND message.sequence = refused.sequence
                AND (refused.place > $2::bigint OR refused.total > $3::bigint)
                -- It may have been made to wait again meanwhile.
                AND message.state = 5
            RETURNING message.sequence, message.bytes
        ), forgotten AS (
            DELETE FROM kii_push.event USING gone WHERE event.message = gone.sequence
        ), counted AS (
            UPDATE kii_push.gateway SET expired = expired + (SELECT count(*) FROM gone) WHERE id = $1::bigint::integer
        )
        SELECT count(*), coalesce(sum(bytes), 0)::bigint FROM gone
        """)
    static let dead = PostgresStatement(
        "dead", "counting dead letters",
        "SELECT count(*), coalesce(sum(bytes), 0)::bigint FROM kii_push.message WHERE state = 5")
    static let unclaim = PostgresStatement(
        "give_back", "giving messages back",
        """
        UPDATE kii_push.installation SET in_hand = ARRAY(SELECT unnest(in_hand) EXCEPT SELECT unnest(taken) ORDER BY 1)
        FROM kii_push.shard
        WHERE shard.gateway = $1::bigint::integer AND installation.shard = shard.id AND taken_in = $2::bigint
        """)
    /// SQLSTATE of this schema: a repeated message differs from the stored row.
    static let rowMismatch = "KII02"
    /// SQLSTATE of this schema: a handler's statements belong to a message that is no longer with a handler.
    static let notInHand = "KII06"
    /// SQLSTATE of this schema: no time is left for further statements of handlers in this transaction.
    static let noTime = "KII07"
    /// SQLSTATE of this schema: an installation does not belong to this gateway.
    static let ofAnother = "KII03"

    static let turn = [
        beginTurn, beginWork, checkWork, resumeWork, endWork, takeNumbers, absorb, insert, recordRefusals, finish,
        change, prove, prune, trim, dead, unclaim,
    ]
}
#endif
