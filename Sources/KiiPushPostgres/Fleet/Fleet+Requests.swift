#if Postgres
import Glibc
package import KiiPushCore

extension Fleet {
    /// The most requests that a gateway reads at once, and that callers pass to ``decide(_:_:patience:)`` at once.
    package static let requestsAtOnce = 1000

    package func deadLetters() async throws -> [Int64] {
        try await self.queryingOneDatabase { connection throws(InboxError) in
            let rows = try connection.rows(
                "SELECT sequence FROM kii_push.message WHERE state = 5 ORDER BY sequence", step: "reading dead letters")
            return (0..<rows.count).map { rows.integer($0, 0) }
        }
    }

    /// Asks the gateways that have these messages to retry or to drop them. A gateway usually does so within 3 s.
    ///
    /// - Parameter patience: the longest wait for the next answer.
    /// - Returns: the answers, by message. Requests without an answer remain: the message's gateway carries them out
    ///   later.
    package func decide(
        _ decision: PushRuntime.Decision, _ messages: [Int64], patience: Duration = .seconds(8)
    ) async throws -> [Int64: MessageDecision] {
        let numbers = "{\(messages.map(String.init).joined(separator: ","))}"
        return try await self.queryingOneDatabase { connection throws(InboxError) in
            let step = "asking the gateways"
            let asked = try connection.rows(
                """
                WITH dead AS MATERIALIZED (
                    SELECT installation, sequence FROM kii_push.message
                    WHERE state = 5 AND sequence = ANY ($2::bigint[])
                ), other AS (
                    -- Only dead letters have an index of their numbers: these few are looked for in each installation.
                    SELECT found.* FROM kii_push.installation CROSS JOIN LATERAL (
                        SELECT installation, sequence FROM kii_push.message
                        WHERE message.installation = installation.key AND sequence = ANY (ARRAY(
                            SELECT unnest($2::bigint[]) EXCEPT SELECT sequence FROM dead)) OFFSET 0) AS found
                )
                INSERT INTO kii_push.request (installation, message, what)
                SELECT installation, sequence, $1::text FROM (SELECT * FROM dead UNION ALL SELECT * FROM other) AS wanted
                ORDER BY sequence RETURNING id, message
                """, [decision.rawValue, numbers], step: step)
            var open = Dictionary(
                uniqueKeysWithValues: (0..<asked.count).map { (asked.integer($0, 0), asked.integer($0, 1)) })
            var answers: [Int64: MessageDecision] = [:]
            for message in Set(messages).subtracting(open.values) { answers[message] = .notFound }
            var deadline = MonotonicInstant.now() + patience
            while !open.isEmpty, MonotonicInstant.now() < deadline {
                let requests = "{\(open.keys.map(String.init).joined(separator: ","))}"
                let answered = try connection.rows(
                    """
                    DELETE FROM kii_push.request WHERE id = ANY ($1::bigint[]) AND answer IS NOT NULL
                    RETURNING id, answer
                    """, [requests], step: "reading the gateways' answers")
                for row in 0..<answered.count {
                    guard let message = open.removeValue(forKey: answered.integer(row, 0)) else { continue }
                    answers[message] = MessageDecision(requestAnswer: answered.integer(row, 1))
                }
                if answered.count > 0 { deadline = .now() + patience } else { poll(nil, 0, 100) }
            }
            return answers
        }
    }
}
#endif
