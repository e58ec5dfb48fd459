#if Postgres
import KiiPushCore

extension PostgresStatements {
    private static func waitingBytes(of key: String) -> String {
        """
        (SELECT coalesce(sum(bytes), 0)::bigint FROM kii_push.message WHERE installation = \(key) AND state = 0)
        + (SELECT coalesce(sum(bytes), 0)::bigint FROM kii_push.message
            WHERE installation = \(key) AND state BETWEEN 1 AND 2)
        """
    }

    private static func openCount(of key: String) -> String {
        """
        (SELECT count(*) FROM kii_push.message WHERE installation = \(key) AND state = 0)
        + (SELECT count(*) FROM kii_push.message WHERE installation = \(key) AND state BETWEEN 1 AND 3)
        """
    }

    /// Whether the installation belongs to this agent, or to no declared agent.
    private static func isFree(_ other: String, to mine: String) -> String {
        """
        (\(other).agent = \(mine).agent
            OR NOT EXISTS (SELECT FROM kii_push.agent WHERE agent.name = \(other).agent))
        """
    }

    static let installation = PostgresStatement(
        "installation", "adding an installation",
        """
        SELECT key, shard, \(waitingBytes(of: "entry.key")), block
        FROM kii_push.take_installation($6::bigint::integer, $1::text, $5::text, $2::text, $3::text, $4::text) AS entry
        """)
    static let unproven = PostgresStatement(
        "unproven", "reading unproven rows",
        """
        SELECT sequence, packet_id FROM kii_push.message
        WHERE installation = $1::bigint AND packet_id IS NOT NULL AND sequence > coalesce(
            $2::bigint, (SELECT proven_sequence FROM kii_push.installation WHERE key = $1::bigint))
        ORDER BY sequence
        """)
    static let deadLetters = PostgresStatement(
        "dead_letters", "reading dead letters",
        """
        SELECT \(columns()), (SELECT id FROM kii_push.installation WHERE key = message.installation)
        FROM kii_push.message WHERE state = 5 AND sequence > $1::bigint ORDER BY sequence LIMIT $2::bigint
        """)
    static let presented = PostgresStatement(
        "presented", "reading what is shown",
        """
        SELECT \(columns()) FROM kii_push.message
        WHERE installation = $1::bigint AND state = 3 AND sequence > $2::bigint
        ORDER BY sequence LIMIT $3::bigint
        """)
    /// Finds a message by its number alone. The primary key begins with the installation, so the statement searches
    /// every installation, unless a row of `kii_push.request` names the installation.
    static let found = PostgresStatement(
        "found", "looking for a message",
        """
        SELECT \(columns(state: standing)) FROM (
            (SELECT installation AS key FROM kii_push.request WHERE message = $1::bigint LIMIT 1)
            UNION ALL
            SELECT key FROM kii_push.installation
            WHERE NOT EXISTS (SELECT FROM kii_push.request WHERE message = $1::bigint)
        ) AS candidate JOIN kii_push.installation ON installation.key = candidate.key
            JOIN kii_push.message ON message.installation = candidate.key AND message.sequence = $1::bigint
        """)
    /// A message's state. A handler may have the message although its row says `waiting` or `retry`: the installation's
    /// `in_hand` then lists the message.
    static let standing = "CASE WHEN message.sequence = ANY (installation.in_hand) THEN 1 ELSE message.state END"
    static let requeue = PostgresStatement(
        "requeue", "making a message wait",
        """
        WITH former AS (
            SELECT \(standing) AS state, bytes
            FROM kii_push.message JOIN kii_push.installation ON installation.key = message.installation
            WHERE installation = $1::bigint AND sequence = $2::bigint
        ), waiting AS (
            UPDATE kii_push.message SET state = 0, attempts = CASE former.state WHEN 2 THEN attempts ELSE 0 END,
                crashes = CASE former.state WHEN 2 THEN crashes ELSE 0 END, next_attempt_ms = NULL,
                reason = CASE former.state WHEN 2 THEN reason END, updated_ms = $3::bigint, started_after = NULL,
                answer = NULL, source = coalesce($4::bigint, source),
                events = CASE former.state WHEN 2 THEN events ELSE least(events + 1, 257) END
            FROM former WHERE installation = $1::bigint AND sequence = $2::bigint RETURNING events
        ), let_go AS (\(release("SELECT $1::bigint, ARRAY[$2::bigint]"))), recorded AS (
            INSERT INTO kii_push.event (message, number, at_ms, kind)
            SELECT $2::bigint, events, $3::bigint, \(MessageEvent.Kind.retried.parts.code) FROM waiting, former
            WHERE former.state <> 2 AND events <= 256
        ), answered AS (\(answer(.retry, where: "EXISTS (SELECT FROM waiting)")))
        SELECT state, bytes FROM former WHERE EXISTS (SELECT FROM waiting)
        """)
    static let drop = PostgresStatement(
        "drop", "removing a message",
        """
        WITH gone AS (
            DELETE FROM kii_push.message WHERE installation = $1::bigint AND sequence = $2::bigint
            RETURNING state, bytes
        ), let_go AS (\(release("SELECT $1::bigint, ARRAY[$2::bigint]"))), forgotten AS (
            DELETE FROM kii_push.event USING gone WHERE event.message = $2::bigint
        ), counted AS (
            UPDATE kii_push.gateway SET
                pruned = pruned + CASE gone.state WHEN 4 THEN 1 ELSE 0 END,
                dropped = dropped + CASE gone.state WHEN 4 THEN 0 ELSE 1 END
            FROM gone WHERE gateway.id = $3::bigint::integer
        ), answered AS (\(answer(.drop, where: "EXISTS (SELECT FROM gone)")))
        SELECT state, bytes FROM gone
        """)
    private static let formerInstallations = """
        SELECT other.key FROM kii_push.installation AS mine JOIN kii_push.installation AS other
            ON other.principal = mine.principal AND other.app = mine.app AND other.site = mine.site
            AND \(isFree("other", to: "mine"))
        WHERE mine.key = $1::bigint AND other.key <> $1::bigint AND other.adopter IS DISTINCT FROM $1::bigint
        """
    static let former = PostgresStatement("former", "looking for former installations", formerInstallations)
    static let takeOver = PostgresStatement(
        "take_over", "taking over former installations",
        """
        WITH former AS (\(formerInstallations) AND other.key = ANY ($2::bigint[])
        ), moved AS (
            UPDATE kii_push.installation SET adopter = $1::bigint, agent = mine.agent, shard = mine.shard
            FROM former, kii_push.installation AS mine
            WHERE (installation.key = former.key OR installation.adopter = former.key)
                AND installation.key <> $1::bigint AND mine.key = $1::bigint
                -- Another gateway may have taken it over while this waited.
                AND \(isFree("installation", to: "mine"))
            RETURNING installation.key
        )
        SELECT key, \(openCount(of: "former.key")) FROM former WHERE key IN (SELECT key FROM moved)
        """)
    static let adopted = PostgresStatement(
        "adopted", "reading former installations",
        """
        SELECT key, id, \(waitingBytes(of: "installation.key")), shard FROM kii_push.installation
        WHERE adopter = $1::bigint
            AND shard = (SELECT shard FROM kii_push.installation WHERE key = $1::bigint)
        """)
    static let adopt = PostgresStatement(
        "adopt", "recording who handles messages",
        """
        WITH pair AS (
            SELECT former.key AS former, taker.key AS taker, taker.agent, taker.shard
            FROM kii_push.installation AS former, kii_push.installation AS taker
            WHERE former.id = $1::text AND taker.id = $2::text
                AND taker.shard IN (SELECT id FROM kii_push.shard WHERE gateway = $3::bigint::integer) AND \(isFree("former", to: "taker"))
        ), moved AS (
            UPDATE kii_push.installation SET adopter = pair.taker, agent = pair.agent, shard = pair.shard FROM pair
            WHERE (installation.key = pair.former OR installation.adopter = pair.former)
                AND installation.key <> pair.taker AND \(isFree("installation", to: "pair"))
            RETURNING installation.key
        )
        SELECT former, shard, \(waitingBytes(of: "pair.former")), \(openCount(of: "pair.former")), taker FROM pair
        WHERE former IN (SELECT key FROM moved)
        """)

    static let ledger = PostgresStatement(
        "ledger", "reading the counts",
        """
        SELECT sum(received)::bigint, sum(duplicates)::bigint, sum(expired)::bigint, sum(dropped)::bigint,
            (SELECT count(*) FROM kii_push.message WHERE state = 0),
            (SELECT count(*) FROM kii_push.message WHERE state = 1),
            (SELECT count(*) FROM kii_push.message WHERE state = 2),
            (SELECT count(*) FROM kii_push.message WHERE state = 3),
            (SELECT count(*) FROM kii_push.message WHERE state = 5),
            (SELECT coalesce(sum(cardinality(in_hand)), 0)::bigint FROM kii_push.installation)
        FROM kii_push.gateway
        """)

    static let questions = [
        ledger, installation, unproven, deadLetters, presented, found, requeue, drop, former, takeOver, adopted,
        adopt,
    ]

    // MARK: - Opening

    static let pendingBytes = """
        SELECT installation.key, \(waitingBytes(of: "installation.key")) FROM kii_push.shard
        JOIN kii_push.installation ON installation.shard = shard.id WHERE shard.gateway = $1::integer
        """
}
#endif
