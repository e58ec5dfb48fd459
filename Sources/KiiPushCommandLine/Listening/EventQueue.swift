package import KiiPushCore

/// The events of agents of this process, in the form in which ``ControlNotices`` has those of another one. A slow reader holds
/// nobody up: it misses events, and reads how many.
package final class EventQueue: Sendable {
    package typealias Told = (agent: String?, notice: ControlNotice)

    private typealias State = (waiting: Int, missed: Int)

    /// As many events wait for the reader.
    package static let most = 4096

    private let told = AsyncStream.makeStream(of: Told.self)
    private let state = Locked<State>((0, 0))

    package init() {}

    /// For one reader. Ends after ``finish()``, when all is read.
    package var notices: AsyncMapSequence<AsyncStream<Told>, Told> {
        self.told.stream.map { [self] told in
            self.state.withLock { state in
                state.waiting -= 1
                if state.waiting < Self.most / 2 { self.tellMissed(&state) }
            }
            return told
        }
    }

    /// On the thread where it happens.
    ///
    /// - Parameter agent: of a fleet the one that it happened to.
    package func put(_ event: PushEvent, of agent: String? = nil) {
        self.state.withLock { state in
            // The reader hears of the gap before it hears of anything behind it.
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
