package import KiiPushCore

/// A queue of agents' events for one reader. A slow reader does not delay the agents: the reader misses events, and is
/// told how many.
package final class EventQueue: Sendable {
    package typealias Told = (agent: String?, notice: ControlNotice)

    private typealias State = (waiting: Int, missed: Int)

    package static let most = 4096

    private let told = AsyncStream.makeStream(of: Told.self)
    private let state = Locked<State>((0, 0))

    package init() {}

    /// The events, for a single reader. Ends after ``finish()``.
    package var notices: AsyncMapSequence<AsyncStream<Told>, Told> {
        self.told.stream.map { [self] told in
            self.state.withLock { state in
                state.waiting -= 1
                if state.waiting < Self.most / 2 { self.tellMissed(&state) }
            }
            return told
        }
    }

    package func put(_ event: PushEvent, of agent: String? = nil) {
        self.state.withLock { state in
            // After a missed event, later events count as missed too, until the reader is told how many it has missed.
            guard state.missed == 0, state.waiting < Self.most else {
                state.missed += 1
                return
            }
            state.waiting += 1
            self.told.continuation.yield((agent, .event(event)))
        }
    }

    package func finish() {
        self.state.withLock { self.tellMissed(&$0) }
        self.told.continuation.finish()
    }

    private func tellMissed(_ state: inout State) {
        guard state.missed > 0 else { return }
        state.waiting += 1
        self.told.continuation.yield((nil, .missed(state.missed)))
        state.missed = 0
    }
}
