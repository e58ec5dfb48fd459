/// How long ``KiiClient/mqttEndpoint(of:token:waiting:)`` keeps asking for an endpoint that is not ready.
public struct EndpointWait: Sendable {
    /// How often the cloud is asked, the first time included. Default 10; at least 1.
    public var maximumRequests: Int
    /// How much time may be spent between the requests, all together. Default 60 s.
    public var budget: Duration
    /// The wait before the second request when the cloud does not say how long; it doubles with each further one, up
    /// to 5 s. Default 1 s, as Kii's SDKs wait.
    public var firstDelay: Duration
    /// What is waited on. Default: the machine's continuous clock.
    public var clock: any Clock<Duration>
    /// Lengthens each wait by this share of it, so that a fleet does not ask in step: called once a wait, must return
    /// 0 to 1. Default: at random from 0 to 0.25.
    public var jitter: @Sendable () -> Double

    /// Describes the waiting.
    public init(
        maximumRequests: Int = 10,
        budget: Duration = .seconds(60),
        firstDelay: Duration = .seconds(1),
        clock: any Clock<Duration> = ContinuousClock(),
        jitter: @escaping @Sendable () -> Double = { Double.random(in: 0...0.25) }
    ) {
        self.maximumRequests = maximumRequests
        self.budget = budget
        self.firstDelay = firstDelay
        self.clock = clock
        self.jitter = jitter
    }

    /// The wait after the refusal of request `number` (from 1), or `nil` when there is to be no further one.
    ///
    /// What the cloud asks for is never shortened: when it does not fit into what is left, there is no wait.
    func delay(after error: KiiError, request number: Int, alreadyWaited: Duration) -> Duration? {
        guard error.isTransient, number < self.maximumRequests else { return nil }
        let doublings = min(number - 1, 10)
        let wait = error.retryAfter ?? min(self.firstDelay * (1 << doublings), max(.seconds(5), self.firstDelay))
        let lengthened = wait + wait * min(max(self.jitter(), 0), 1)
        let left = self.budget - alreadyWaited
        return wait <= left ? min(lengthened, left) : nil
    }
}
