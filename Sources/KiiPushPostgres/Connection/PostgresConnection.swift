#if Postgres
import CPostgres
import Glibc
import KiiPushCore

/// A connection that sends statements without waiting for earlier answers. For use on the loop's thread.
///
/// - Source: "Pipeline Mode" in the manual of libpq.
final class PostgresConnection: DescriptorOwner {
    typealias Step = (statement: PostgresStatement, parameters: PostgresParameters)

    enum Answer {
        case rows([PostgresRows])
        /// The server refused the batch and rolled it back. `step` is the index of the refused statement. `places` are
        /// the numbers in an error that this schema's functions raise: array indices, or keys of installations.
        case refused(InboxError, places: [Int], step: Int)
        /// The connection broke, so it is unknown whether the batch was committed.
        case unknown(InboxError)

        var result: Result<[PostgresRows], InboxError> {
            switch self {
            case .rows(let rows): .success(rows)
            case .refused(let error, _, _), .unknown(let error): .failure(error)
            }
        }
    }

    private struct Batch {
        var steps: [PostgresStatement]
        var answers: [PostgresRows] = []
        var error: (InboxError, places: [Int])?
        let completion: (Answer) -> Void
    }

    private let handle: OpaquePointer
    private let warnings: PostgresWarnings
    private let loop: EventLoop
    private let descriptor: Int32
    private var underWay: [Batch] = []
    private var isWriting = false
    private let broke: (InboxError) -> Void
    private var isBroken = false

    init(
        owning handle: OpaquePointer, on loop: EventLoop, broke: @escaping (InboxError) -> Void
    ) throws(InboxError) {
        (self.handle, self.loop, self.broke) = (handle, loop, broke)
        self.warnings = PostgresWarnings(of: handle)
        self.descriptor = PQsocket(handle)
        PQsetnonblocking(handle, 1)
        guard self.descriptor >= 0, PQenterPipelineMode(handle) == 1 else {
            throw .away("beginning to use the database's connection")
        }
        do throws(TransportError) {
            try loop.watch(self.descriptor, isWriting: false, owner: self)
        } catch {
            throw .away("watching the database's connection")
        }
    }

    deinit { PQfinish(self.handle) }

    var isIdle: Bool { self.underWay.isEmpty }

    /// Sends statements as one transaction. Rows in the answer mean that the transaction is committed. Completions run
    /// in the order of the batches. If the connection is broken or breaks during the call, `completion` runs before
    /// this method returns.
    func send(_ steps: [Step], completion: @escaping (Answer) -> Void) {
        guard !self.isBroken else { return completion(.unknown(.away("using the database's connection"))) }
        let batch = Batch(steps: steps.map(\.statement), completion: completion)
        self.underWay.append(batch)
        for step in steps where !self.isBroken { self.queue(step) }
        guard !self.isBroken else { return }
        if PQpipelineSync(self.handle) == 0 { return self.abandon() }
        self.flush()
    }

    private func queue(_ step: Step) {
        let parameters = step.parameters
        let isQueued = parameters.bytes.withUnsafeBytes { bytes in
            let values = parameters.ranges.map { range in
                range.flatMap { bytes.baseAddress?.advanced(by: $0.lowerBound).assumingMemoryBound(to: CChar.self) }
            }
            let lengths = parameters.ranges.map { Int32($0?.count ?? 0) }
            let formats = [Int32](repeating: parameters.areTexts ? 0 : 1, count: parameters.ranges.count)
            guard !step.statement.name.isEmpty else {
                return PQsendQueryParams(
                    self.handle, step.statement.sql, Int32(values.count), nil, values, lengths, formats, 0)
            }
            return PQsendQueryPrepared(
                self.handle, step.statement.name, Int32(values.count), values, lengths, formats, 1)
        }
        if isQueued == 0 { self.abandon() }
    }

    private func flush() {
        let left = PQflush(self.handle)
        guard left >= 0 else { return self.abandon() }
        guard (left == 1) != self.isWriting else { return }
        self.isWriting = left == 1
        do throws(TransportError) {
            try self.loop.watch(self.descriptor, isWriting: self.isWriting, owner: self)
        } catch {
            self.abandon()
        }
    }

    // MARK: - Answers

    func descriptorReady() {
        guard !self.isBroken else { return }
        if PQconsumeInput(self.handle) == 0 { return self.abandon() }
        if self.isWriting { self.flush() }
        self.readAnswers()
    }

    private func readAnswers() {
        while !self.isBroken, !self.underWay.isEmpty, PQisBusy(self.handle) == 0 {
            // A null result ends the results of one statement; a result of type "pipeline sync" ends a batch.
            guard let result = PQgetResult(self.handle) else { continue }
            self.read(result)
        }
        if !self.isBroken, PQstatus(self.handle) == CONNECTION_BAD { self.abandon() }
    }

    private func read(_ result: OpaquePointer) {
        switch PQresultStatus(result) {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK:
            self.underWay[0].answers.append(PostgresRows(owning: result))
            return
        case PGRES_PIPELINE_SYNC:
            PQclear(result)
            if self.underWay[0].error != nil { self.warnings.forget() }
            guard !self.warnings.hasSome else { return self.abandon() }
            let batch = self.underWay.removeFirst()
            let refusal = batch.error.map { Answer.refused($0.0, places: $0.places, step: batch.answers.count) }
            batch.completion(refusal ?? .rows(batch.answers))
            return
        case PGRES_PIPELINE_ABORTED: break
        default:
            if self.underWay[0].error == nil {
                let steps = self.underWay[0].steps
                let step = steps[min(self.underWay[0].answers.count, steps.count - 1)].step
                let words = PQresultErrorField(result, cpostgres_message).map { String(cString: $0) }
                self.underWay[0].error = (
                    InboxError(result, step: step), places: words?.split(separator: ",").compactMap { Int($0) } ?? []
                )
            }
        }
        PQclear(result)
    }

    // MARK: - The end

    /// Ends the connection: stops watching its socket, and answers all unanswered batches with `unknown`.
    func abandon(_ error: InboxError = .away("waiting for the database")) {
        guard !self.isBroken else { return }
        self.isBroken = true
        self.loop.forget(self.descriptor)
        let underWay = self.underWay
        self.underWay = []
        for batch in underWay { batch.completion(.unknown(error)) }
        self.broke(error)
    }

    func finish(within limit: Duration) {
        let deadline = MonotonicInstant.now() + limit
        while !self.isBroken, !self.underWay.isEmpty {
            let left = (deadline - .now()).wholeMillisecondsRoundedUp
            guard left > 0 else { return }
            var entry = pollfd(
                fd: self.descriptor, events: Int16(POLLIN | (self.isWriting ? POLLOUT : 0)), revents: 0)
            poll(&entry, 1, Int32(clamping: left))
            self.descriptorReady()
        }
    }
}

/// Whether the server has sent a warning. PostgreSQL sends a warning if an administrator cancels a commit's wait for
/// the synchronous standby: the commit is then on one disk only. The store then breaks the connection. Commits on a new
/// connection wait for the standby again.
///
/// - Source: `SyncRepWaitForLSN` of PostgreSQL. ``BlockingPostgres`` sets `client_min_messages` to `warning`.
final class PostgresWarnings {
    private let flag: UnsafeMutablePointer<Bool>

    /// Replaces libpq's notice receiver, which writes to standard error.
    init(of handle: OpaquePointer?) {
        self.flag = .allocate(capacity: 1)
        self.flag.initialize(to: false)
        PQsetNoticeReceiver(
            handle,
            { flag, notice in
                // Ignores INFO messages, which the server sends at every level of `client_min_messages`.
                guard let word = PQresultErrorField(notice, cpostgres_severity), String(cString: word) == "WARNING"
                else { return }
                flag?.assumingMemoryBound(to: Bool.self).pointee = true
            }, self.flag)
    }

    deinit { self.flag.deallocate() }

    var hasSome: Bool { self.flag.pointee }

    func forget() { self.flag.pointee = false }
}
#endif
