import KiiPushCore

/// Posts each message to a server, which answers by its HTTP status.
///
/// Redirects are not followed: they mean a wrong address, so the attempt fails. After a failure with `Retry-After`, no
/// message is sent until that time, for 5 min at most. Waiting uses up no attempt.
final class ForwardHandler: OutsideHandler {
    private static let longestPause = Duration.seconds(300)
    /// The time limit for the response body. The connection can be reused only if the body is read to its end.
    private static let bodyPatience = Duration.seconds(1)
    /// A 4xx status with this field rejects a message for good. Most 4xx statuses alone may come from a web server.
    private static let refusal = HTTPField("Kii-Push-Result", "rejected")

    private let target: ForwardTarget
    private let timeout: Duration
    private let endLeftovers: @Sendable () -> Void
    private let loop: EventLoop
    /// The pause that the server requested by `Retry-After`.
    private let pause = Locked<Pause?>(nil)

    private struct Pause {
        var end: ContinuousClock.Instant
        /// The end of the pause as text. Computed once, so that each postponed message gives the same reason.
        var until: String
    }

    /// - Parameter endLeftovers: ends handlers' programs that an earlier run of this command left.
    /// - Throws: ``TransportError`` if the event loop cannot start.
    init(
        _ target: ForwardTarget, timeout: Duration, userAgent: String, endLeftovers: @escaping @Sendable () -> Void
    ) throws {
        (self.target, self.timeout, self.endLeftovers) = (target, timeout, endLeftovers)
        // A configuration of its own: the cloud's proxy and certificates do not apply to this server.
        var configuration = EventLoop.Configuration()
        configuration.userAgent = userAgent
        self.loop = try EventLoop(configuration: configuration)
    }

    func begin() { self.endLeftovers() }

    func answer(to message: HandledMessage, _ context: DeliveryContext) async -> HandlerAnswer {
        let start = ContinuousClock.now
        if let pause = self.pause.withLock({ $0 }), pause.end > start {
            let reason = "\(self.target.host) wants to be left alone until \(pause.until)"
            return self.answer(
                .postponed(reason, retryAfter: pause.end - start), .none("not sent: \(reason)"), start)
        }
        var request = HTTPRequest(method: "POST", url: self.target.url)
        request.fields =
            [HTTPField("Content-Type", "application/json")]
            + message.facts(context).map { HTTPField("Kii-Push-\($0.name)", $0.value) }
        request.body = message.payload
        request.timeout = min(self.timeout, context.timeRemaining)
        request.bodyPatience = Self.bodyPatience
        do {
            return self.answer(to: try await self.loop.perform(request), start)
        } catch let error as TransportError {
            let reason = "POST \(self.target.host): \(error.detail)"
            return self.answer(
                error.isShortage ? .postponed(reason) : .failed(reason), .none("no answer: \(error.detail)"), start)
        } catch {
            return self.answer(.failed("\(error)"), .none("cancelled"), start)
        }
    }

    func stop() async { self.loop.shutdown() }

    private func answer(to response: HTTPResponse, _ start: ContinuousClock.Instant) -> HandlerAnswer {
        var verdict = Self.verdict(response)
        if case .failed(let reason, _) = verdict,
            let wanted = RetryAfter.duration(of: response, receivedAt: .now())
        {
            let duration = min(wanted, Self.longestPause)
            let pause = Pause(end: ContinuousClock.now + duration, until: (Timestamp.now() + duration).localMoment)
            self.pause.withLock { former in
                if former.map({ $0.end < pause.end }) ?? true { former = pause }
            }
            verdict = .failed(reason, retryAfter: duration)
        }
        return self.answer(verdict, .http(response.status), start)
    }

    private static func verdict(_ response: HTTPResponse) -> HandlerAnswer.Verdict {
        let status = response.status
        switch status {
        case 204: return .done(.noData)
        case 200...299: return .done(.newData)
        case 300...399: return .failed("the server redirects (HTTP \(status)): forward to its new address")
        // These statuses count as the handler's answer. Other 4xx statuses may come from a web server or proxy in front
        // of the handler.
        case 400, 409, 410, 413, 415, 422: return .rejected("the server refused it (HTTP \(status))")
        case 400...499 where response.field(Self.refusal.name)?.lowercased() == Self.refusal.value:
            return .rejected("the server refused it (HTTP \(status))")
        case 408, 425, 429, 500...: return .failed("the server asks for another attempt (HTTP \(status))")
        default: return .failed("the server answered with HTTP \(status)")
        }
    }

    private func answer(
        _ verdict: HandlerAnswer.Verdict, _ ending: HandlerOutcome.Ending, _ start: ContinuousClock.Instant
    ) -> HandlerAnswer {
        HandlerAnswer(
            verdict: verdict,
            outcome: HandlerOutcome(
                target: "POST \(self.target.host)", ending: ending, elapsed: ContinuousClock.now - start))
    }
}
