#if Postgres
import KiiPushCore

/// A user's request, carried out by the message's gateway.
struct FleetRequest: Sendable, Hashable {
    var decision: PushRuntime.Decision
    var message: Int64
    var installation: Int64
}

extension FleetReception {
    /// Carries out the requests for this gateway's messages. A request that fails is tried again after the next
    /// renewal.
    ///
    /// - Parameter isWhole: whether agents are about to start. The call then carries out all drops and no retries.
    /// - Returns: the error if requests could not be read; a `CancellationError` if another call is carrying out
    ///   requests.
    func executeRequests(isWhole: Bool) async -> (any Error)? {
        // Only one task at a time, so that no request is carried out twice.
        while !self.begin() {
            guard isWhole, (try? await Task.sleep(for: .milliseconds(50))) != nil else { return CancellationError() }
        }
        defer { self.isDeciding.withLock { $0 = false } }
        do {
            while try await self.executeBatch(dropsOnly: isWhole) == Fleet.requestsAtOnce, isWhole {}
            return nil
        } catch {
            return error
        }
    }

    private func begin() -> Bool {
        self.isDeciding.withLock { isDeciding in
            defer { isDeciding = true }
            return !isDeciding
        }
    }

    private func executeBatch(dropsOnly: Bool) async throws -> Int {
        let requests = try await self.ask { $0.requests(dropsOnly: dropsOnly, completion: $1) }
        var answered = 0
        var done: Set<FleetRequest> = []
        for request in requests where !Task.isCancelled {
            guard done.insert(request).inserted else {
                answered += 1
                continue
            }
            do {
                let decision =
                    switch request.decision {
                    case .retry: try await self.runtime.retry(request.message)
                    case .drop: try await self.runtime.drop(request.message)
                    }
                try await self.ask { $0.answer(request, decision, completion: $1) }
                answered += 1
            } catch {
                continue
            }
        }
        return answered
    }
}

extension PostgresStore {
    func requests(dropsOnly: Bool, completion: @escaping StoreCompletion<[FleetRequest]>) {
        self.ask([(PostgresStatements.openRequests, .init(self.gateway.id, dropsOnly ? 1 : 0))]) { answer in
            completion(
                answer.map { rows in
                    (0..<rows[0].count).compactMap { row in
                        PushRuntime.Decision(rawValue: rows[0].text(row, 0) ?? "").map {
                            FleetRequest(
                                decision: $0, message: rows[0].integer(row, 1), installation: rows[0].integer(row, 2))
                        }
                    }
                })
        }
    }

    func answer(
        _ request: FleetRequest, _ decision: MessageDecision, completion: @escaping StoreCompletion<Void>
    ) {
        var parameters = PostgresParameters(decision.requestAnswer, request.message)
        parameters.add(request.decision.rawValue)
        self.write([(PostgresStatements.answerRequest, parameters)], of: [request.installation]) {
            completion($0.map { _ in () })
        }
    }
}

extension MessageDecision {
    fileprivate static let carriedOutAnswer: Int64 = -1

    fileprivate var requestAnswer: Int64 {
        switch self {
        case .carriedOut: Self.carriedOutAnswer
        case .notFound: -2
        case .running(let time): max(0, time.wholeNanoseconds / 1_000_000)
        }
    }

    init(requestAnswer: Int64) {
        switch requestAnswer {
        case Self.carriedOutAnswer: self = .carriedOut
        case 0...: self = .running(for: .milliseconds(requestAnswer))
        default: self = .notFound
        }
    }
}

extension PostgresStatements {
    /// Also deletes answers that are still unread after a minute.
    static let openRequests = PostgresStatement(
        "open_requests", "reading requests",
        """
        WITH old AS (
            DELETE FROM kii_push.request WHERE id = ANY (ARRAY(
                SELECT id FROM kii_push.request WHERE answered_at < clock_timestamp() - interval '1 minute'
                FOR UPDATE SKIP LOCKED))
        )
        SELECT request.what, request.message, request.installation
        FROM kii_push.request JOIN kii_push.installation ON installation.key = request.installation
            JOIN kii_push.shard ON shard.id = installation.shard
        WHERE request.answer IS NULL AND shard.gateway = $1::bigint::integer
            AND (request.what = 'drop' OR $2::bigint = 0)
        ORDER BY request.id LIMIT \(Fleet.requestsAtOnce)
        """)
    static let answerRequest = PostgresStatement(
        "answer_request", "answering a request",
        """
        UPDATE kii_push.request SET answer = $1::bigint, answered_at = clock_timestamp()
        WHERE message = $2::bigint AND what = $3::text AND answer IS NULL
        """)
    static let requests = [openRequests, answerRequest]

    /// Part of a statement that changes a message, whose number is parameter 2. It answers the requests for this change
    /// in the same transaction, so that the change is not repeated.
    static func answer(_ decision: PushRuntime.Decision, where condition: String) -> String {
        """
        UPDATE kii_push.request SET answer = \(MessageDecision.carriedOutAnswer), answered_at = clock_timestamp()
        WHERE message = $2::bigint AND what = '\(decision.rawValue)' AND answer IS NULL AND \(condition)
        """
    }
}
#endif
