/// One worker, step by step: takes a call, calls the handler, and goes on when the call has returned. One thread at a time:
/// one of delivery's own or, as in a simulation, that of whoever made the ``Workers``.
package final class Worker {
    /// The handler has returned, and ``Worker/callReturned()`` follows; or the worker is free, and an asynchronous handler's
    /// task goes on without it.
    package enum Outcome { case returned, left }

    /// How long the messages of a call may take together, before it makes way for others that wait.
    private static let slice: Duration = .milliseconds(1)

    private let box: AnswerBox
    private let queue: CallQueue
    private let configuration: DeliveryConfiguration
    private var call: DeliveryCall?
    private var position = 0
    private var startedAt = MonotonicInstant(nanoseconds: 0)
    private var sliceBeganAt = MonotonicInstant(nanoseconds: 0)
    /// The last call holds no place any more.
    private var hasLeft = false
    /// A thread gives up the place as it waits for the next call.
    private let isThread: Bool

    init(_ workers: Workers, isThread: Bool = false) {
        self.isThread = isThread
        self.box = workers.box
        self.queue = workers.queue
        self.configuration = workers.configuration
    }

    package var hasCall: Bool { self.call != nil }

    /// Whether there was a call.
    package func takeCall() -> Bool {
        guard let call = self.queue.take() else { return false }
        self.begin(call)
        if !self.hasCall, self.takeLeave() { self.queue.leave() }
        return true
    }

    func begin(_ call: DeliveryCall) {
        self.call = call
        self.follow(self.box.begin(call))
        self.sliceBeganAt = self.startedAt
    }

    /// Calls the handler on this thread.
    package func makeCall() -> Outcome {
        guard let call, let task = self.invoke(call), self.box.leave(call.id, to: task) else { return .returned }
        self.call = nil
        return .left
    }

    /// The completion is let go of before this returns, unless the handler keeps it. Returns the task of an asynchronous
    /// handler, which may be over already.
    private func invoke(_ call: DeliveryCall) -> Task<Void, Never>? {
        let message = call.messages[self.position]
        let completion = FetchCompletion(
            self.box, AnswerTicket(sequence: message.sequence, call: call.id, position: self.position))
        // Without an attachment there is nobody to call: letting go of the completion has it tried again.
        guard let attachment = call.attachment else { return nil }
        let context = DeliveryContext(
            installationID: attachment.id, messageID: message.sequence, receivedAt: message.receivedAt,
            attempt: message.attempts + 1, state: attachment.receiver.state(of: message), userAction: message.openedBy,
            deadlineInstant: self.configuration.deadline(of: message, startedAt: self.startedAt))
        switch message.content {
        case .message(let message):
            switch attachment.receiver.route(message, context: context) {
            case .handler: return self.callHandler(attachment.form, message, context, completion, call.id)
            case .show(let body, let isForHandler):
                guard let isShown = self.box.present(call.id, body) else { return nil }
                guard isShown, !isForHandler else {
                    return self.callHandler(attachment.form, message, context, completion, call.id)
                }
                completion.answer(.presented)
            case .nobody: completion.answer(.unreached)
            case .invoke(let body): body(completion)
            }
        case .command(let command):
            attachment.commandHandler?.didReceiveThingCommand(
                command, context: context, fetchCompletionHandler: completion)
        // No such message is queued.
        case .refused: break
        }
        return nil
    }

    private func callHandler(
        _ form: HandlerForm, _ message: ReceivedMessage, _ context: DeliveryContext, _ completion: FetchCompletion,
        _ id: CallID
    ) -> Task<Void, Never>? {
        switch form {
        case .completion(let handler):
            handler.didReceiveRemoteNotification(message, context: context, fetchCompletionHandler: completion)
        case .plain(let call):
            call(message)
            completion(.newData)
        case .none:
            completion.answer(
                .threw("the handler conforms to NotificationHandler alone; conform to one of its forms"))
        case .async(let handler):
            // It starts on this thread, so a handler that does not suspend costs no hop. The box owns it and cancels
            // it; its failure is the message's.
            return Task.immediate { [box = self.box, queue = self.queue] in
                do {
                    completion(try await handler.didReceiveRemoteNotification(message, context: context))
                } catch {
                    completion.fail(error)
                }
                if box.taskEnded(id) { queue.leave() }
            }
        }
        return nil
    }

    /// The handler has returned: the next message of the call is the present one, or the worker is free.
    package func callReturned() {
        guard let call else { return }
        let now = self.box.now
        var isYielding = false
        if now - self.sliceBeganAt >= Worker.slice {
            isYielding = self.queue.isWaitedFor
            self.sliceBeganAt = now
        }
        self.follow(self.box.returned(call, isYielding: isYielding, at: now))
        if !self.hasCall, !self.isThread, self.takeLeave() { self.queue.leave() }
    }

    /// Whether the place of the last call is to be given up: true once.
    func takeLeave() -> Bool {
        defer { self.hasLeft = false }
        return self.hasLeft
    }

    private func follow(_ step: AnswerBox.Step) {
        switch step {
        case .call(let position, let startedAt): (self.position, self.startedAt) = (position, startedAt)
        case .done(let isPlaceKept):
            self.call = nil
            self.hasLeft = !isPlaceKept
        }
    }
}
