#if Postgres
public import KiiPushCore

/// A handler's own SQL statement, which runs in the transaction that stores the handler's answer.
///
/// ```swift
/// completion(.newData, committing: SQLStatement("INSERT INTO app.reading (thing, value) VALUES ($1, $2)", thing, value))
/// ```
public struct SQLStatement: Sendable, Hashable {
    let text: String
    let values: [String?]

    /// Creates a statement.
    ///
    /// - Parameters:
    ///   - text: one `INSERT`, `UPDATE`, `DELETE`, `MERGE`, `SELECT` or `WITH`. Qualify table names with their schema.
    ///     The gateway's role needs the rights.
    ///   - values: the values of `$1`, `$2` and so on, as texts. PostgreSQL converts each text to the expected type.
    ///     `nil` is NULL.
    public init(_ text: String, _ values: String?...) { (self.text, self.values) = (text, values) }

    /// Whether the statement is of an allowed kind. Others, such as `COMMIT`, could end the transaction.
    var isPlain: Bool {
        let word = self.text.drop(while: \.isWhitespace).prefix(while: \.isLetter).lowercased()
        return ["insert", "update", "delete", "merge", "select", "with"].contains(word) && !self.text.utf8.contains(0)
    }
}

final class SQLWork: Sendable {
    let statements: [SQLStatement]

    init(_ statements: [SQLStatement]) { self.statements = statements }
}

extension FetchCompletion {
    /// Answers with `result`, and runs the statements in the transaction that stores the answer: both are written, or
    /// neither is. So counts that a handler keeps in the database are exact, even if the handler is called twice.
    ///
    /// If PostgreSQL refuses a statement, neither is written and the attempt fails; the message is retried as after any
    /// failure. Each statement may take a second, and delays the gateway's other messages. Rows that it returns are
    /// discarded. An answer after the deadline does not count.
    ///
    /// - Parameters:
    ///   - result: with ``FetchResult/failed`` no statement runs.
    ///   - statements: run in this order.
    /// - Returns: whether the answer counts, provided that PostgreSQL accepts the statements. Outside a fleet, or with
    ///   a statement that ``SQLStatement`` does not allow, the answer counts as ``FetchResult/failed``.
    @discardableResult
    public func callAsFunction(_ result: FetchResult, committing statements: SQLStatement...) -> Bool {
        guard result != .failed, !statements.isEmpty else { return self(result) }
        guard statements.allSatisfy(\.isPlain) else {
            return self.fail(
                because: "a handler's statement has to begin with INSERT, UPDATE, DELETE, MERGE, SELECT or WITH")
        }
        return self.commit(result, with: AnswerWork(SQLWork(statements)))
    }
}
#endif
