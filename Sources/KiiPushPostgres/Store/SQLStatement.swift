#if Postgres
public import KiiPushCore

/// A handler's own statement, which runs in the transaction that stores the handler's answer.
///
/// ```swift
/// completion(.newData, committing: SQLStatement("INSERT INTO app.reading (thing, value) VALUES ($1, $2)", thing, value))
/// ```
public struct SQLStatement: Sendable, Hashable {
    let text: String
    let values: [String?]

    /// Makes a statement.
    ///
    /// - Parameters:
    ///   - text: one `INSERT`, `UPDATE`, `DELETE`, `MERGE`, `SELECT` or `WITH`. Qualify the names of tables with their
    ///     schema. The gateway's role needs the rights.
    ///   - values: the values of `$1`, `$2` and so on, as texts, which PostgreSQL reads as the types that it expects
    ///     there. `nil` is NULL.
    public init(_ text: String, _ values: String?...) { (self.text, self.values) = (text, values) }

    /// Whether it cannot affect the transaction itself.
    var isPlain: Bool {
        let word = self.text.drop(while: \.isWhitespace).prefix(while: \.isLetter).lowercased()
        return ["insert", "update", "delete", "merge", "select", "with"].contains(word) && !self.text.utf8.contains(0)
    }
}

/// The statements to commit with one answer.
final class SQLWork: Sendable {
    let statements: [SQLStatement]

    init(_ statements: [SQLStatement]) { self.statements = statements }
}

extension FetchCompletion {
    /// Answers with `result`, and runs the statements in the transaction that stores the answer: both are written, or
    /// neither is. Counts that a handler keeps this way are exact, however often it is called.
    ///
    /// If PostgreSQL refuses a statement, nothing is written and the attempt fails: it is retried like any other. Each
    /// statement has a second, and delays the gateway's other messages meanwhile. Its rows are discarded. An answer
    /// after the deadline does not count.
    ///
    /// - Parameters:
    ///   - result: with ``FetchResult/failed`` no statement runs.
    ///   - statements: in this order.
    /// - Returns: whether the answer counts, unless PostgreSQL refuses a statement. Without a fleet's database, or with
    ///   a statement that cannot run, the answer counts as ``FetchResult/failed``.
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
