/// Only one thread uses a worker at a time: a thread of delivery or, in a simulation, the owner of the ``Workers``.
package final class Worker {
    /// `returned`: the handler has returned, and ``Worker/callReturned()`` follows. `left`: a task continues the call.
    package enum Outcome { case returned, left }

    /// After this time, a worker begins no further message of its call if other calls wait.
    private static let slice: Duration = .milliseconds(1)

    private let box: AnswerBox
    private let queue: CallQueue
    private let configuration: DeliveryConfiguration
    private var call: DeliveryCall?
    private var position = 0
    private var startedAt = MonotonicInstant(nanoseconds: 0)
    private var sliceBeganAt = MonotonicInstant(nanoseconds: 0)
    private var hasLeft = false
    private let isThread: Bool

    init(_ workers: Workers, isThread: Bool = false) {
        self.isThread = isThread
        self.box = workers.box
        self.queue = workers.queue
        self.configuration = workers.configuration
    }

    package var hasCall: Bool { self.call != nil }

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

    package func makeCall() -> Outcome {
        guard let call, let task = self.invoke(call), self.box.leave(call.id, to: task) else { return .returned }
        self.call = nil
        return .left
    }

    /// Releases the completion before it returns, unless the handler keeps the completion. Returns the task of an
    /// asynchronous handler.
    private func invoke(_ call: DeliveryCall) -> Task<Void, Never>? {
        let message = call.messages[self.position]
        let completion = FetchCompletion(
            self.box, AnswerTicket(sequence: message.sequence, call: call.id, position: self.position))
        // Without an attachment there is no handler. The completion is released, so delivery retries the message.
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
            // The task starts on this thread: a handler that does not suspend needs no change of threads.
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

    /// Returns true once if the worker has to free the place of its last call.
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
