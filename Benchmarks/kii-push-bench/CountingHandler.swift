import KiiPushCore

final class CountingHandler: RemoteNotificationHandler {
    private struct State {
        var calls = 0
        var latencies: [Double] = []
        var resident = 0.0
        var finished = 0.0
    }

    private let count: Int
    private let measuresLatency: Bool
    private let state = Locked(State())
    private let done: AsyncStream<Void>
    private let doneContinuation: AsyncStream<Void>.Continuation

    /// - Parameters:
    ///   - count: the number of calls after which the handler is done.
    ///   - measuresLatency: whether the handler reads the time of sending from each message.
    init(count: Int, measuresLatency: Bool) {
        self.count = count
        self.measuresLatency = measuresLatency
        (self.done, self.doneContinuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
    }

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage,
        context: DeliveryContext,
        fetchCompletionHandler completion: FetchCompletion
    ) {
        let latency = self.measuresLatency ? Self.latency(of: message) : 0
        let calls = self.state.withLock { state in
            state.calls += 1
            if self.measuresLatency { state.latencies.append(latency) }
            return state.calls
        }
        completion(.newData)
        guard calls == self.count else { return }
        let (resident, finished) = (residentBytes(), monotonicSeconds())
        self.state.withLock { ($0.resident, $0.finished) = (resident, finished) }
        self.doneContinuation.yield()
    }

    /// Waits for the last call or for cancellation.
    func finished() async {
        for await _ in self.done { return }
    }

    /// The results as `name=value` words.
    func report() -> String {
        let state = self.state.withLock { $0 }
        let latencies = state.latencies.sorted()
        var text = "resident=\(state.resident) handled=\(state.finished)"
        if !latencies.isEmpty {
            text += " p50=\(latencies[latencies.count / 2]) p99=\(latencies[latencies.count * 99 / 100])"
        }
        return text
    }

    /// Seconds since the time that the blast wrote into the payload: its monotonic clock, with a 1 before 18 digits.
    private static func latency(of message: ReceivedMessage) -> Double {
        guard let sent = message["sent"]?.int64 else { return .nan }
        return monotonicSeconds() - Double(sent - 1_000_000_000_000_000_000) / 1e9
    }
}
