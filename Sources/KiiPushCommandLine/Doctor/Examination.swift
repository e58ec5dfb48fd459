import KiiPushCore

/// Runs checks, and skips a check if the finding of a check that it needs is in the way (``Finding/isInTheWay``).
package struct Examination {
    private(set) var checks: [Check] = []
    package let limit: Duration
    private let end: ContinuousClock.Instant
    private let report: (Check) throws -> Void

    package init(time: Duration, report: @escaping (Check) throws -> Void) {
        // A check that times out leaves time for others.
        self.limit = time * 3 / 10
        self.end = .now + time
        self.report = report
    }

    var firstFailure: Check? { self.checks.first { $0.finding.outcome == .failed } }

    package func isClear(_ keys: [Check.Key]) -> Bool { self.obstacle(among: keys) == nil }

    package mutating func note(_ key: Check.Key, after needs: [Check.Key] = [], _ finding: Finding) throws {
        let finding = self.obstacle(among: needs).map { Finding.unknown($0) } ?? finding
        let check = Check(key: key, finding: finding)
        self.checks.append(check)
        try self.report(check)
    }

    package mutating func check(
        _ key: Check.Key, after needs: [Check.Key] = [], _ body: @escaping @Sendable () async throws -> Finding
    ) async throws {
        guard self.isClear(needs) else { return try self.note(key, after: needs, .unknown("")) }
        try self.note(key, await self.finding(body))
    }

    package func finding(_ body: @escaping @Sendable () async throws -> Finding) async -> Finding {
        do {
            return try await self.inTime(body) ?? self.timeoutFinding
        } catch {
            return .failed(error)
        }
    }

    /// The result of `body`; `nil` if `body` did not end within `steps` times ``limit`` or the examination's time.
    package func inTime<Result: Sendable>(
        steps: Int = 1, _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result? {
        let time = min(self.limit * steps, self.end - .now)
        return time > .zero ? try await within(time, body) : nil
    }

    package var timeoutFinding: Finding {
        self.end > .now
            ? .unreachable("nothing came of it within \(self.limit.text)", fix: "allow more time with --timeout")
            : .unknown("no time was left; allow more with --timeout")
    }

    package func end(on console: Console) throws {
        for check in self.checks {
            guard let fix = check.finding.fix else { continue }
            try console.line("\(console.style(check.key.text, .bold)): \(fix.terminalSafe)")
        }
        if let exit = self.firstFailure?.finding.exit { throw SilentExit.status(exit) }
    }

    private func obstacle(among keys: [Check.Key]) -> String? {
        for key in keys {
            guard let check = self.checks.last(where: { $0.key == key }) else { return "needs \(key.text)" }
            guard check.finding.isInTheWay else { continue }
            return "needs \(key.text), which " + (check.finding.outcome == .failed ? "failed" : "was skipped")
        }
        return nil
    }
}

package func within<Result: Sendable>(
    _ time: Duration, _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result? {
    try await withThrowingTaskGroup(of: Result?.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try? await Task.sleep(for: time)
            return nil
        }
        defer { group.cancelAll() }
        return try await group.next() ?? nil
    }
}
