import KiiPushCore

/// Checks as they are made, each only when those that it needs came out well.
struct Examination {
    private(set) var checks: [Check] = []
    /// How long one check may take at most.
    let limit: Duration
    private let end: ContinuousClock.Instant
    private let report: (Check) throws -> Void

    /// - Parameters:
    ///   - time: how long all checks may take together.
    ///   - report: is told of each check when it is made.
    init(time: Duration, report: @escaping (Check) throws -> Void) {
        // The longest way through has four checks that may each run into their limit before the last one can be made.
        self.limit = time * 3 / 10
        self.end = .now + time
        self.report = report
    }

    /// The first check that failed.
    var firstFailure: Check? { self.checks.first { $0.outcome == .failed } }

    /// Whether nothing that `keys` name is in the way. What was not checked at all is.
    func isClear(_ keys: [Check.Key]) -> Bool { self.obstacle(among: keys) == nil }

    /// Notes what a check found, unless another one is in its way.
    mutating func note(_ key: Check.Key, after needs: [Check.Key] = [], _ finding: Finding) throws {
        let finding = self.obstacle(among: needs).map { Finding.unknown($0) } ?? finding
        let check = Check(
            key: key, outcome: finding.outcome, evidence: finding.evidence, fix: finding.fix, exit: finding.exit,
            isInTheWay: finding.isInTheWay)
        self.checks.append(check)
        try self.report(check)
    }

    /// Makes a check, unless another one is in its way or there is no time left.
    mutating func check(
        _ key: Check.Key, after needs: [Check.Key] = [], _ body: @escaping @Sendable () async throws -> Finding
    ) async throws {
        guard self.isClear(needs) else { return try self.note(key, after: needs, .unknown("")) }
        try self.note(key, await self.finding(body) ?? self.outOfTime)
    }

    /// What `body` returns; `nil` when it took too long, and was cancelled. What it throws is a failure.
    func finding(_ body: @escaping @Sendable () async throws -> Finding) async -> Finding? {
        await self.inTime {
            do {
                return try await body()
            } catch {
                return Finding.failed(error)
            }
        }
    }

    /// What `body` returns; `nil` when it took too long, and was cancelled.
    ///
    /// - Parameter steps: how many of the limits it may take.
    func inTime<Result: Sendable>(
        steps: Int = 1, _ body: @escaping @Sendable () async -> Result
    ) async -> Result? {
        let time = min(self.limit * steps, self.end - .now)
        guard time > .zero else { return nil }
        return await withTaskGroup(of: Result?.self) { group in
            group.addTask { await body() }
            group.addTask {
                // Cancelled when the check is done.
                try? await Task.sleep(for: time)
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
    }

    /// What is noted of a check that took too long.
    var outOfTime: Finding {
        self.end > .now
            ? .failed(
                "nothing came of it within \(self.limit.text)", fix: "allow more time with --timeout",
                exit: .unreachable)
            : .unknown("no time was left; allow more with --timeout")
    }

    private func obstacle(among keys: [Check.Key]) -> String? {
        for key in keys {
            guard let check = self.checks.last(where: { $0.key == key }) else { return "needs \(key.text)" }
            guard check.isInTheWay else { continue }
            return "needs \(key.text), which " + (check.outcome == .failed ? "failed" : "was skipped")
        }
        return nil
    }
}
