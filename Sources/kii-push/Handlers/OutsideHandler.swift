import KiiPushCore

/// Somebody outside this process who handles messages: a command, or a server.
protocol OutsideHandler: Sendable {
    /// Gets ready: ends what an earlier run has left.
    func begin()

    /// Hands a message over and waits for what comes of it: until the deadline of `context` at most, and as long as a
    /// program takes to end when it is told to.
    func answer(to message: HandledMessage, _ context: DeliveryContext) async -> HandlerAnswer

    /// No message follows: what is held back for later is given up.
    func hurry()

    /// Ends what runs. Returns when nothing does any more.
    func stop() async
}

/// The handler of an agent whose messages somebody outside handles. Keeps what was said about each attempt for the view.
final class OutsideBridge: RemoteNotificationHandler, ThingCommandHandler {
    private struct Known {
        var attempt: Int
        /// `nil` while the attempt is under way.
        var outcome: HandlerOutcome?
        var deadline: ContinuousClock.Instant
    }

    /// Outcomes that nobody asked for are let go of beyond this number.
    private static let most = 10_000

    let outside: any OutsideHandler
    private let known = Locked<[Int64: Known]>([:])

    init(_ outside: any OutsideHandler) { self.outside = outside }

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        self.handle(HandledMessage(message), context, completion)
    }

    func didReceiveThingCommand(
        _ command: ThingCommand, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        self.handle(HandledMessage(command), context, completion)
    }

    /// How the attempt went; `nil` while it is under way, and of an attempt that this process did not make.
    func outcome(of messageID: Int64, attempt: Int) -> HandlerOutcome? {
        self.known.withLock { known in
            known[messageID].flatMap { $0.attempt == attempt ? $0.outcome : nil }
        }
    }

    /// Lets go of what is known about a message that is over.
    func forget(_ messageID: Int64) {
        self.known.withLock { known in
            // An attempt that goes on behind its deadline is still waited for.
            if known[messageID]?.outcome != nil { known[messageID] = nil }
        }
    }

    /// How long the attempt that has been under way for too long is past its deadline; zero when none is.
    func overdue(at now: ContinuousClock.Instant = .now) -> Duration {
        self.known.withLock { known in
            known.values.reduce(.zero) { $1.outcome == nil ? max($0, $1.deadline.duration(to: now)) : $0 }
        }
    }

    /// How many attempts are under way.
    var inHand: Int { self.known.withLock { known in known.values.count { $0.outcome == nil } } }

    private func handle(_ message: HandledMessage, _ context: DeliveryContext, _ completion: FetchCompletion) {
        let id = context.messageID
        let begun = Known(attempt: context.attempt, deadline: .now + context.timeRemaining)
        self.known.withLock { known in
            if known.count >= Self.most { known = known.filter { $0.value.outcome == nil } }
            known[id] = begun
        }
        // The delivery's thread is not held up; the answer comes from here within the deadline.
        Task {
            let answer = await self.outside.answer(to: message, context)
            self.known.withLock { known in
                if known[id]?.attempt == context.attempt { known[id]?.outcome = answer.outcome }
            }
            switch answer.verdict {
            case .done(let result): completion(result)
            case .failed(let reason): completion.fail(OutsideFailure(description: reason))
            case .rejected(let reason): completion.reject(reason)
            }
        }
    }
}

/// Why an attempt outside failed, as it is kept with the message.
private struct OutsideFailure: Error, CustomStringConvertible {
    let description: String
}
