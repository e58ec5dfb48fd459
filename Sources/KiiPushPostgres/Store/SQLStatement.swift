#if Postgres
public import KiiPushCore

/// A statement of a handler's own, which is carried out in the transaction that stores the handler's answer.
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
    ///   - text: one `INSERT`, `UPDATE`, `DELETE`, `MERGE`, `SELECT` or `WITH`. Names of tables have to be qualified with
    ///     their schema. The gateway's role needs the rights.
    ///   - values: what stands for `$1`, `$2` and so on, as texts, which PostgreSQL reads as the types that it expects there.
    ///     `nil` is NULL.
    public init(_ text: String, _ values: String?...) { (self.text, self.values) = (text, values) }

    /// Whether it can do nothing to the transaction itself.
    var isPlain: Bool {
        let word = self.text.drop(while: \.isWhitespace).prefix(while: \.isLetter).lowercased()
        return ["insert", "update", "delete", "merge", "select", "with"].contains(word) && !self.text.utf8.contains(0)
    }
}

/// What one answer is to be committed with.
final class SQLWork: Sendable {
    let statements: [SQLStatement]

    init(_ statements: [SQLStatement]) { self.statements = statements }
}

extension FetchCompletion {
    /// Answers with `result`, and has the statements carried out in the transaction that stores the answer: both are
    /// written, or neither is. What a handler counts like this is counted exactly once, however often it was called.
    ///
    /// Where PostgreSQL refuses a statement, nothing is written and the attempt has failed: it is tried again like any other.
    /// Each statement has a second; it holds up the gateway's other messages meanwhile. The rows that it returns are let go
    /// of. An answer after the deadline does not count.
    ///
    /// - Parameters:
    ///   - result: with ``FetchResult/failed`` no statement is carried out.
    ///   - statements: in this order.
    /// - Returns: whether the answer counts, unless PostgreSQL refuses a statement. In a runtime without a fleet's database
    ///   it counts as ``FetchResult/failed``, and so does one with a statement that cannot be carried out.
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
