import KiiPushCore

/// Posts each message to a server, whose status is the answer.
///
/// Redirects are not followed: the address is wrong then, not the message, so the attempt has failed. A server that names a
/// time with `Retry-After` is sent nothing until then, or for 5 min if it names more: messages wait for it as long as an
/// attempt may take, and one whose attempt is over before has failed without having been sent.
final class ForwardHandler: OutsideHandler {
    private static let longestPause = Duration.seconds(300)
    /// What has to be left of an attempt for a request.
    private static let leastTime = Duration.seconds(1)

    private struct State {
        var pauseEnd: ContinuousClock.Instant?
        var isHurried = false
        var lastWait = 0
        var waits: [Int: Task<Void, any Error>] = [:]
    }

    private let target: ForwardTarget
    private let timeout: Duration
    private let endLeftovers: @Sendable () -> Void
    private let loop: EventLoop
    private let state = Locked(State())

    /// - Parameters:
    ///   - userAgent: what the server is told in the field `User-Agent`.
    ///   - endLeftovers: ends the programs of an earlier run that had some.
    /// - Throws: ``TransportError`` when the system gives no thread.
    init(
        _ target: ForwardTarget, timeout: Duration, userAgent: String, endLeftovers: @escaping @Sendable () -> Void
    ) throws {
        (self.target, self.timeout, self.endLeftovers) = (target, timeout, endLeftovers)
        // Its own: what was said about the cloud's proxy and certificates is not said about this server.
        var configuration = EventLoop.Configuration()
        configuration.userAgent = userAgent
        self.loop = try EventLoop(configuration: configuration)
    }

    func begin() { self.endLeftovers() }

    func answer(to message: HandledMessage, _ context: DeliveryContext) async -> HandlerAnswer {
        let start = ContinuousClock.now
        if let reason = await self.waitForServer(context) {
            return self.answer(.failed("not sent: \(reason)"), .none("not sent: \(reason)"), start)
        }
        var request = HTTPRequest(method: "POST", url: self.target.url)
        request.fields =
            [HTTPField("Content-Type", "application/json")]
            + message.facts(context).map { HTTPField("Kii-Push-\($0.name)", $0.value) }
        request.body = message.payload
        request.timeout = min(self.timeout, context.timeRemaining)
        do {
            return self.answer(to: try await self.loop.perform(request), start)
        } catch let error as TransportError {
            return self.answer(
                .failed("POST \(self.target.host): \(error.detail)"), .none("no answer: \(error.detail)"), start)
        } catch {
            return self.answer(.failed("\(error)"), .none("cancelled"), start)
        }
    }

    func hurry() {
        let waits = self.state.withLock { state in
            state.isHurried = true
            return Array(state.waits.values)
        }
        for wait in waits { wait.cancel() }
    }

    func stop() async {
        self.hurry()
        self.loop.shutdown()
    }

    private func answer(to response: HTTPResponse, _ start: ContinuousClock.Instant) -> HandlerAnswer {
        let status = response.status
        let verdict: HandlerAnswer.Verdict =
            switch status {
            case 204: .done(.noData)
            case 200...299: .done(.newData)
            case 300...399: .failed("the server redirects (HTTP \(status)): forward to its new address")
            case 408, 425, 429, 500...: .failed("the server asks for another attempt (HTTP \(status))")
            case 400...499: .rejected("the server refused it (HTTP \(status))")
            default: .failed("the server answered with HTTP \(status)")
            }
        if case .failed = verdict,
            let pause = RetryAfter.duration(of: response, receivedAt: .now())
        {
            let end = ContinuousClock.now + min(pause, Self.longestPause)
            self.state.withLock { state in state.pauseEnd = max(state.pauseEnd ?? end, end) }
        }
        return self.answer(verdict, .http(status), start)
    }

    private func answer(
        _ verdict: HandlerAnswer.Verdict, _ ending: HandlerOutcome.Ending, _ start: ContinuousClock.Instant
    ) -> HandlerAnswer {
        HandlerAnswer(
            verdict: verdict,
            outcome: HandlerOutcome(
                target: "POST \(self.target.host)", ending: ending, elapsed: ContinuousClock.now - start))
    }

    /// Waits while the server wants to be left alone; returns why nothing is sent now, `nil` when it may be asked.
    private func waitForServer(_ context: DeliveryContext) async -> String? {
        let now = ContinuousClock.now
        let lastMoment = now + context.timeRemaining - Self.leastTime
        let (end, wait) = self.state.withLock { state -> (ContinuousClock.Instant?, (Int, Task<Void, any Error>)?) in
            guard let end = state.pauseEnd, end > now else { return (nil, nil) }
            guard !state.isHurried else { return (end, nil) }
            state.lastWait += 1
            let task = Task { try await Task.sleep(until: min(end, lastMoment)) }
            state.waits[state.lastWait] = task
            return (end, (state.lastWait, task))
        }
        guard let end else { return nil }
        if let (number, task) = wait {
            _ = await task.result
            self.state.withLock { state in _ = state.waits.removeValue(forKey: number) }
            if ContinuousClock.now >= end { return nil }
        }
        return "the server wants to be left alone for another \((end - ContinuousClock.now).text)"
    }
}
