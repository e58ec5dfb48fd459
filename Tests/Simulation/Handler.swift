import KiiPushCore

struct Behaviour {
    enum Answer {
        case newData, noData, failed, threw, rejected, setAside
        /// The handler releases the completion without an answer.
        case none
    }

    /// Time from the call to the answer; zero: the handler answers before it returns.
    var answersAfter = Duration.zero
    var answer = Answer.newData
    /// Whether the handler answers a second time, with another result.
    var answersTwice = false
    var takes = Duration.zero
    var end: End?

    enum End { case killed, stopped }

    init(_ message: Plan.Message, call: Int, isInMemory: Bool, dice: inout Dice) {
        switch message.temper {
        case .good:
            self.takes = dice.percent(70) ? .zero : dice.milliseconds(0...30)
            if dice.percent(10) { self.answer = .noData }
            if dice.percent(10) { self.answersAfter = dice.milliseconds(1...200) }
        case .failing(let count) where call < count:
            self.answer = dice.pick([(3, .failed), (1, .threw), (1, .none)])
        case .failing: break
        // With the inbox in memory, every process would be killed, and no file would count the attempts.
        case .deadly: if !isInMemory || call < 2 { self.end = .killed }
        case .stopping: if call == 0 { self.end = .stopped }
        case .moody: self.beMoody(isInMemory: isInMemory, &dice)
        }
    }

    private mutating func beMoody(isInMemory: Bool, _ dice: inout Dice) {
        self.answer = dice.pick([
            (8, .newData), (2, .noData), (3, .failed), (1, .threw), (1, .rejected), (2, .none),
            (isInMemory ? 0 : 1, .setAside),
        ])
        self.answersAfter = dice.pick([
            (20, .zero), (12, dice.milliseconds(0...5000)), (6, dice.milliseconds(29_000...40_000)),
            (1, dice.milliseconds(40_000...900_000)),
        ])
        self.takes = dice.pick([
            (24, .zero), (12, dice.milliseconds(0...3000)), (4, dice.milliseconds(29_000...60_000)),
            (1, dice.milliseconds(300_000...500_000)),
        ])
        self.answersTwice = self.answer != .threw && dice.percent(20)
        if dice.percent(4) { self.end = dice.percent(70) ? .killed : .stopped }
    }
}

final class Handler: RemoteNotificationHandler, Receiver {
    private let process: AgentProcess

    init(_ process: AgentProcess) { self.process = process }

    var handler: any NotificationHandler { self }

    func state(of message: QueuedMessage) -> LifecycleState { .active }

    func route(_ message: ReceivedMessage, context: DeliveryContext) -> DeliveryRoute { .handler }

    func didReceiveRemoteNotification(
        _ message: ReceivedMessage, context: DeliveryContext, fetchCompletionHandler completion: FetchCompletion
    ) {
        self.process.called(message, context, completion)
    }
}
