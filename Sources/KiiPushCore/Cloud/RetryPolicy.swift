/// The rules for repeating failed calls.
///
/// A repetition must not have a second effect. The client therefore repeats:
/// - any call after 425, and after 429 or 503 with a requested wait: the server did nothing;
/// - any call if the connection or the TLS handshake failed, except for a certificate problem;
/// - any call if a reused connection answers 421, or (HTTP/1.1) 408 within 1 s: at once, over a new connection, whatever
///   the policy;
/// - an idempotent call after 408, 429, 502, 503 and 504, after a lost connection, and after a timeout.
///
/// These calls are not idempotent: sending a message, creating an object, registering, changing a password, refreshing
/// a token, and any call with `acceptsExisting: false`.
///
/// The wait doubles with each repetition, up to `maximumDelay`. The client never shortens a wait that the server
/// requests. If a wait exceeds the rest of `budget`, the call fails at once. Cancellation ends a wait at once.
///
/// - Source: RFC 9110 sections 9.2.2 (repetition), 15.5.9 (408) and 15.5.20 (421); RFC 8470 section 5.2 (425)
public struct RetryPolicy: Sendable {
    package var maximumRequests: Int
    package var budget: Duration
    package var firstDelay: Duration
    package var maximumDelay: Duration
    package var clock: any Clock<Duration>
    package var jitter: @Sendable () -> Double

    enum Subject: Sendable {
        case everyFailure
        case refusals
        case missingAnswers
    }

    var subject = Subject.everyFailure

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - maximumRequests: the most requests of one call, including the first. With 1 or less there is no repetition.
    ///   - budget: the time from the start of a call in which a further request may begin.
    ///   - firstDelay: the wait before the second request, unless the server requests a wait.
    ///   - maximumDelay: the limit of the doubled waits, unless `firstDelay` is longer.
    ///   - clock: the clock that measures the waits and `budget`. Default: the machine's continuous clock.
    ///   - jitter: returns the share to add to a wait, from 0 to 1, so that the clients of a fleet do not retry at the
    ///     same time. The client calls `jitter` once for each wait. Default: random from 0 to 0.25.
    public init(
        maximumRequests: Int = 3, budget: Duration = .seconds(30), firstDelay: Duration = .milliseconds(500),
        maximumDelay: Duration = .seconds(8), clock: any Clock<Duration> = ContinuousClock(),
        jitter: @escaping @Sendable () -> Double = { Double.random(in: 0...0.25) }
    ) {
        (self.maximumRequests, self.budget, self.firstDelay) = (maximumRequests, budget, firstDelay)
        (self.maximumDelay, self.clock, self.jitter) = (maximumDelay, clock, jitter)
    }

    /// The client repeats no call, except at once after 421 or an early 408; see ``RetryPolicy``.
    package static let none = RetryPolicy(maximumRequests: 1)
    /// For requests of an MQTT endpoint, which the cloud needs time to make.
    package static let endpoint = RetryPolicy(
        maximumRequests: 10, budget: .seconds(60), firstDelay: .seconds(1), maximumDelay: .seconds(5))
}

extension RetryPolicy {
    /// `isInDoubt` is true if the cloud may have carried out an earlier request of this call.
    func repeating<Output>(
        isIdempotent: Bool, _ request: (_ isInDoubt: Bool) async throws -> Output
    ) async throws -> Output {
        let spent = Self.stopwatch(self.clock)
        var pauses = Backoff(from: self.firstDelay, upTo: max(self.maximumDelay, self.firstDelay))
        var number = 1
        var isInDoubt = false
        while true {
            do {
                return try await request(isInDoubt)
            } catch {
                let pause = pauses.next()
                guard number < self.maximumRequests, let failure = RequestFailure(error, self.subject),
                    isIdempotent || !failure.isInDoubt,
                    let delay = self.delay(failure.retryAfter ?? pause, spent: spent())
                else { throw error }
                try await self.clock.sleep(for: delay)
                number += 1
                isInDoubt = isInDoubt || failure.isInDoubt
            }
        }
    }

    private static func stopwatch(_ clock: some Clock<Duration>) -> () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }

    private func delay(_ wait: Duration, spent: Duration) -> Duration? {
        let left = self.budget - spent
        return wait <= left ? min(wait + wait * min(max(self.jitter(), 0), 1), left) : nil
    }
}

struct RequestFailure {
    var isInDoubt: Bool
    var retryAfter: Duration?

    init?(_ error: any Error, _ subject: RetryPolicy.Subject = .everyFailure) {
        switch error {
        case let error as KiiError where subject != .missingAnswers:
            switch error.status {
            case 425: self.isInDoubt = false
            case 429, 503: self.isInDoubt = error.retryAfter == nil
            case 408, 502, 504: self.isInDoubt = true
            default: return nil
            }
            self.retryAfter = error.retryAfter
        case let error as TransportError where subject != .refusals:
            switch error.code {
            case .nameNotResolved, .connectionRefused, .tlsFailed, .timedOut, .connectionLost:
                self.isInDoubt = error.isOutcomeUnknown
            default: return nil
            }
        default: return nil
        }
    }
}
